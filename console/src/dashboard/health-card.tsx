// The card "Health": the state of the server, its database and its webhooks.

import { useQuery } from '@tanstack/preact-query';
import type { ServiceStatus, Webhook } from 'plant-store/client';
import type { ComponentChildren } from 'preact';
import { errorText } from '../session/error-text.ts';
import { useStatusQuery, useWebhooks } from '../session/queries.ts';
import { useWorkspace } from '../session/workspace.ts';
import { Icon } from '../shared/icon.tsx';
import { Late } from '../shared/late.tsx';
import { bytes, count, number } from '../shared/numbers.ts';
import { duration, exactTime, shortDate, Time, useNow } from '../shared/time.tsx';
import { stateOf } from '../webhooks/webhook-state.ts';
import { ProblemLink } from './problem-link.tsx';
import { refusedReasons, refusedTotal } from './refused-text.ts';

const DATABASES = { sqlite: 'SQLite', postgres: 'PostgreSQL' };
/** Number of problems with a link of their own. */
const MAX_LINKS = 3;
const REFRESH_MS = 15_000;

export function HealthCard() {
  const { can } = useWorkspace();
  const { data: status, error, isPending, refetch } = useStatusQuery();
  const { data: webhooks } = useWebhooks();
  const failing = webhooks?.filter((webhook) => ['failing', 'disabled'].includes(stateOf(webhook))) ?? [];
  return (
    <section class="card" aria-labelledby="health-title">
      <header class="card-head">
        <h2 id="health-title">Health</h2>
        {status && webhooks && <Verdict problems={failing.length} />}
      </header>
      {!can('admin') && (
        <div class="card-none">
          <p>The state of the server needs a token with the scope admin.</p>
        </div>
      )}
      {!status && error && (
        <div class="card-none">
          <p role="alert">{errorText(error)}</p>
          <button type="button" class="btn" onClick={() => void refetch()}>
            Try again
          </button>
        </div>
      )}
      {can('admin') && isPending && (
        <Late>
          <FactBones />
        </Late>
      )}
      {status && <Facts status={status} webhooks={webhooks} failing={failing} />}
      {status && failing.slice(0, MAX_LINKS).map((webhook) => <ProblemLink key={webhook.id} webhook={webhook} />)}
    </section>
  );
}

function Verdict({ problems }: { problems: number }) {
  return (
    <span class={problems === 0 ? 'badge ok' : 'badge warn'}>
      <Icon name={problems === 0 ? 'good' : 'alert'} />
      {problems === 0 ? 'No problems' : count(problems, 'problem')}
    </span>
  );
}

interface FactsProps {
  status: ServiceStatus;
  webhooks: Webhook[] | undefined;
  failing: Webhook[];
}

function Facts({ status, webhooks, failing }: FactsProps) {
  const nowMs = useNow();
  const { version, started, database, refused, lastBackup, hours } = status;
  const latest = hours.at(-1)?.p99Milliseconds;
  return (
    <dl class="facts">
      <Fact label="Server" note={<span title={exactTime(started)}>up {duration(nowMs - Date.parse(started))}</span>}>
        {version}
      </Fact>
      <Fact label="Database" note={bytes(database.bytes)}>
        {DATABASES[database.kind]}
      </Fact>
      <ChangeLogFact lastChange={status.lastChange} />
      {database.kind === 'sqlite' && (
        <Fact label="Last backup" note={lastBackup && bytes(lastBackup.bytes)}>
          {lastBackup ? <Time at={lastBackup.time} /> : 'None yet'}
        </Fact>
      )}
      {webhooks && (
        <Fact label="Webhooks" isWarning={failing.length > 0}>
          {webhooksText(webhooks, failing, status.deliveries.pending)}
        </Fact>
      )}
      <Fact label="Refused since start" note={refusedReasons(refused)}>
        {number(refusedTotal(refused))}
      </Fact>
      {latest !== undefined && (
        <Fact label="Response time" note="p99">
          {latest} ms
        </Fact>
      )}
    </dl>
  );
}

/** The number of the newest change, and the day of the oldest change that the change log still has. */
function ChangeLogFact({ lastChange }: { lastChange: number }) {
  const { client, can } = useWorkspace();
  const { data: oldest } = useQuery({
    queryKey: ['oldest-change'],
    queryFn: async ({ signal }) =>
      (await client.changePage({ order: 'asc', limit: 1 }, { signal })).changes[0]?.time ?? null,
    enabled: can('plants:read') && lastChange > 0,
    staleTime: REFRESH_MS,
  });
  return (
    <Fact label="Change log" note={oldest && `since ${shortDate(new Date(oldest))}`}>
      {lastChange === 0 ? 'Empty' : `up to no. ${number(lastChange)}`}
    </Fact>
  );
}

function webhooksText(webhooks: Webhook[], failing: Webhook[], waiting: number): string {
  const disabled = failing.filter(({ status }) => status === 'disabled').length;
  const parts = [
    failing.length > disabled && `${number(failing.length - disabled)} failing`,
    disabled > 0 && `${number(disabled)} disabled`,
    waiting > 0 && `${count(waiting, 'delivery', 'deliveries')} waiting`,
  ].filter(Boolean);
  if (webhooks.length === 0) return 'None';
  return parts.length > 0 ? parts.join(', ') : `${number(webhooks.length)}, nothing waiting`;
}

function Fact(props: { label: string; note?: ComponentChildren; isWarning?: boolean; children: ComponentChildren }) {
  const { label, note, isWarning = false, children } = props;
  return (
    <div class={isWarning ? 'is-warn' : undefined}>
      <dt>{label}</dt>
      <dd>
        {children} {note && <span class="sub">{note}</span>}
      </dd>
    </div>
  );
}

function FactBones() {
  return (
    <div class="facts" aria-hidden="true">
      {['Server', 'Database', 'Change log', 'Last backup', 'Webhooks'].map((label) => (
        <div key={label}>
          <i class="bone b-1" />
          <i class="bone b-2" />
        </div>
      ))}
    </div>
  );
}
