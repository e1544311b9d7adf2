// What an open delivery shows: its attempts, and the message as it was sent and received.

import { useQuery } from '@tanstack/preact-query';
import type { Delivery, DeliveryDetail, Webhook } from 'plant-store/client';
import { useTell } from '../frame/notices.tsx';
import { errorText } from '../session/error-text.ts';
import { useIsOffline, useWorkspace } from '../session/workspace.ts';
import { CopyButton } from '../shared/copy.tsx';
import { Icon } from '../shared/icon.tsx';
import { Late } from '../shared/late.tsx';
import { number } from '../shared/numbers.ts';
import { exactTime, longTime, useNow } from '../shared/time.tsx';
import { DeliveryMessage } from './delivery-message.tsx';
import { REFRESH_MS } from './use-progress.ts';
import { useWebhookWork } from './use-webhook-work.ts';
import { reasonText, untilText } from './webhook-text.ts';

const DAY_MS = 86_400_000;

export function DeliveryDetails({ webhook, delivery }: { webhook: Webhook; delivery: Delivery }) {
  const { client } = useWorkspace();
  const { data, error, refetch } = useQuery({
    queryKey: ['deliveries', webhook.id, 'one', delivery.seq],
    queryFn: ({ signal }) => client.webhooks.delivery(webhook.id, delivery.seq, { signal }),
    refetchInterval: REFRESH_MS,
  });
  if (!data) {
    return (
      <div class="dv-more">
        {error ? (
          <p role="alert">
            {errorText(error)}{' '}
            <button type="button" class="link" onClick={() => void refetch()}>
              Try again
            </button>
          </p>
        ) : (
          <Late>
            <p class="sub">Loading…</p>
          </Late>
        )}
      </div>
    );
  }
  return (
    <div class="dv-more">
      <section class="dv-l" aria-label="Attempts">
        <h3>Attempts</h3>
        <Attempts of={data} />
        <div class="btn-row">
          <RetryButton webhook={webhook} delivery={data} />
          {data.request && (
            <CopyButton text={curlOf(webhook.url, data.request)} label="Copy as curl">
              Copy as curl
            </CopyButton>
          )}
        </div>
      </section>
      <DeliveryMessage url={webhook.url} delivery={data} />
    </div>
  );
}

function Attempts({ of: { history, attempts, status, next } }: { of: DeliveryDetail }) {
  const nowMs = useNow();
  const earlier = attempts - history.length;
  return (
    <ol class="steps">
      {earlier > 0 && <li class="step">{number(earlier)} earlier, no longer kept</li>}
      {history.toReversed().map((attempt) => (
        <li key={attempt.time} class={attempt.error === undefined ? 'step created' : 'step failed'}>
          <div class="step-head">
            <b>{attempt.code === undefined ? 'No response' : `Status ${attempt.code}`}</b>
            <time dateTime={attempt.time} title={exactTime(attempt.time)}>
              {timeText(attempt.time, nowMs)}
            </time>
          </div>
          <p class="step-note">
            {attempt.error === undefined ? 'Accepted' : reasonText(attempt.error)}, after {number(attempt.milliseconds)}{' '}
            ms
          </p>
        </li>
      ))}
      {status === 'waiting' && (
        <li class="step next">
          <div class="step-head">
            <b>Attempt {attempts + 1}</b>
            {next && (
              <time dateTime={next} title={exactTime(next)}>
                {untilText(next, nowMs)}
              </time>
            )}
          </div>
          {!next && <p class="step-note">Follows earlier changes of this plant</p>}
        </li>
      )}
    </ol>
  );
}

function RetryButton({ webhook, delivery: { seq, status } }: { webhook: Webhook; delivery: Delivery }) {
  const { client } = useWorkspace();
  const tell = useTell();
  const isOffline = useIsOffline();
  const { isBusy, run } = useWebhookWork(webhook.id);
  const retry = () =>
    run(async () => {
      await client.webhooks.retry(webhook.id, seq);
      const isStopped = webhook.status === 'disabled';
      tell(isStopped ? `Change ${seq} is sent after you resume the webhook` : `Change ${seq} is sent again now`);
    });
  return (
    <button type="button" class="btn s primary" disabled={isBusy || isOffline} onClick={() => void retry()}>
      <Icon name="retry" />
      {status === 'delivered' ? 'Send again' : 'Retry now'}
    </button>
  );
}

function timeText(at: string, nowMs: number): string {
  const time = new Date(at);
  return nowMs - time.getTime() < DAY_MS ? time.toLocaleTimeString('en-GB') : longTime(time);
}

function curlOf(url: string, { headers, body }: NonNullable<DeliveryDetail['request']>): string {
  const lines = Object.entries(headers)
    .filter(([name]) => name !== 'content-length')
    .map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  return [`curl ${quoted(url)}`, ...lines, `-d ${quoted(body)}`].join(' \\\n  ');
}

/** Quotes a text for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
