// The card "Activity": the last changes and the webhooks that started to fail, newest first.

import { useQuery } from '@tanstack/preact-query';
import type { Change, Webhook } from 'plant-store/client';
import type { ComponentChildren } from 'preact';
import { useRefreshOnChange, useTokenNames, useWebhooks } from '../session/queries.ts';
import { useWorkspace } from '../session/workspace.ts';
import { CHANGE_KINDS } from '../shared/change-kind.ts';
import { Icon } from '../shared/icon.tsx';
import { Late } from '../shared/late.tsx';
import { Name, shorten } from '../shared/plant-text.tsx';
import { Time } from '../shared/time.tsx';
import { linkTo } from '../view.ts';
import { nameOfWebhook } from './webhook-name.ts';

const SHOWN = 8;
const MAX_NAME_CHARS = 500;
const REFRESH_MS = 2000;

export function useRecentChanges() {
  const { client } = useWorkspace();
  useRefreshOnChange(['recent-changes'], REFRESH_MS);
  return useQuery<Change[]>({
    queryKey: ['recent-changes'],
    queryFn: async ({ signal }) => (await client.changePage({ order: 'desc', limit: SHOWN }, { signal })).changes,
    staleTime: REFRESH_MS,
  });
}

/** `changes` are undefined until they are loaded. */
export function RecentActivity({ changes }: { changes: Change[] | undefined }) {
  const tokenName = useTokenNames();
  const { data: webhooks = [] } = useWebhooks();
  const entries = [
    ...(changes ?? []).map((change) => ({
      key: String(change.seq),
      time: change.time,
      content: <ChangeEntry change={change} by={tokenName(change)} />,
    })),
    ...webhooks.flatMap((webhook) =>
      webhook.status === 'failing' && webhook.since !== undefined
        ? [{ key: webhook.id, time: webhook.since, content: <FailureEntry webhook={webhook} since={webhook.since} /> }]
        : [],
    ),
  ];
  const shown = !changes ? [] : entries.sort((a, b) => Date.parse(b.time) - Date.parse(a.time)).slice(0, SHOWN);
  return (
    <section class="card" aria-labelledby="activity-title">
      <header class="card-head">
        <h2 id="activity-title">Activity</h2>
        {changes && changes.length > 0 && (
          <a class="link" href={linkTo('activity')} aria-label="Show all activity">
            Show all
          </a>
        )}
      </header>
      {changes && shown.length === 0 && (
        <div class="card-none">
          <p>The change log is empty. Each change of a plant appears here.</p>
        </div>
      )}
      {!changes && (
        <Late>
          <div class="card-none" aria-hidden="true">
            <i class="bone b-4" />
            <i class="bone b-2" />
            <i class="bone b-5" />
          </div>
        </Late>
      )}
      <ul class="feeds">
        {shown.map(({ key, content }) => (
          <li key={key}>{content}</li>
        ))}
      </ul>
    </section>
  );
}

function ChangeEntry({ change: { type, time, plant }, by }: { change: Change; by: string }) {
  const { feed, icon, verb } = CHANGE_KINDS[type];
  const isGone = type === 'plant.deleted';
  const name = shorten(plant.name, MAX_NAME_CHARS);
  return (
    <Entry feed={feed} icon={icon} time={time} title={`${by} ${verb} ${name}`}>
      <b>
        <bdi>{by}</bdi>
      </b>{' '}
      {verb}{' '}
      {isGone ? (
        <Name of={name} />
      ) : (
        <a href={linkTo('plants', { id: String(plant.id) })}>
          <Name of={name} />
        </a>
      )}
    </Entry>
  );
}

function FailureEntry({ webhook, since }: { webhook: Webhook; since: string }) {
  return (
    <Entry feed="system" icon="hook" time={since} title={webhook.reason}>
      <b>
        <bdi>{nameOfWebhook(webhook)}</bdi>
      </b>{' '}
      started failing{webhook.reason && `: ${webhook.reason}`}
    </Entry>
  );
}

function Entry(props: {
  feed: string;
  icon: string;
  time: string;
  title: string | undefined;
  children: ComponentChildren;
}) {
  const { feed, icon, time, title, children } = props;
  return (
    <div class={`feed ${feed}`}>
      <Icon name={icon} />
      <p title={title}>{children}</p>
      <Time at={time} />
    </div>
  );
}
