// Says why a webhook sends nothing, since when, and what happens next.

import type { Webhook } from 'plant-store/client';
import { useTell } from '../frame/notices.tsx';
import { useIsOffline, useWorkspace } from '../session/workspace.ts';
import { Icon } from '../shared/icon.tsx';
import { count } from '../shared/numbers.ts';
import { longTime, useNow } from '../shared/time.tsx';
import { MOST, nextAttempt, type Progress } from './use-progress.ts';
import { useWebhookWork } from './use-webhook-work.ts';
import { sinceText } from './webhook-list.tsx';
import { stateOf } from './webhook-state.ts';
import { countUpTo, reasonText, untilText } from './webhook-text.ts';

interface Props {
  webhook: Webhook;
  progress: Progress | undefined;
  lastChange: number | undefined;
}

export function WebhookAlarm(props: Props) {
  const state = stateOf(props.webhook);
  if (state === 'failing') return <Failing {...props} />;
  return state === 'active' ? null : <Stopped {...props} isPaused={state === 'paused'} />;
}

function Failing({ webhook, progress, lastChange }: Props) {
  const nowMs = useNow();
  const next = progress && nextAttempt(progress.waiting);
  const waiting = progress?.waiting.length ?? 0;
  const { since, reason, position } = webhook;
  const behind = Math.max(0, (lastChange ?? 0) - position);
  return (
    <div class="alarm">
      <Icon name="alert" />
      <div>
        <b>Webhook failing{next && `: next attempt ${untilText(next, nowMs)}`}</b>
        <p>
          {since && `Every attempt since ${sinceText(since, nowMs)} failed. `}
          {reason && `${reasonText(reason)}. `}
          {waiting > 0 && `${waiting === 1 ? '1 delivery is' : `${countUpTo(waiting, MOST)} deliveries are`} waiting. `}
          {behind > 0 && `${count(behind, 'newer change')} will follow. `}
          After 5 days of failures the server disables it.
        </p>
      </div>
      <TryNow webhook={webhook} progress={progress} />
    </div>
  );
}

/** Sends the oldest waiting delivery at once. */
function TryNow({ webhook, progress }: Pick<Props, 'webhook' | 'progress'>) {
  const { client, can } = useWorkspace();
  const isOffline = useIsOffline();
  const tell = useTell();
  const { isBusy, run } = useWebhookWork(webhook.id);
  const oldest = progress?.waiting.at(-1);
  if (!oldest || !can('plants:read')) return null;
  const retry = () =>
    run(async () => {
      await client.webhooks.retry(webhook.id, oldest.seq);
      tell(`Change ${oldest.seq} is sent again now`);
    });
  return (
    <button type="button" class="btn" disabled={isBusy || isOffline} onClick={() => void retry()}>
      <Icon name="retry" />
      Try now
    </button>
  );
}

function Stopped({ webhook, isPaused, lastChange }: Props & { isPaused: boolean }) {
  const { since, reason, position } = webhook;
  const behind = Math.max(0, (lastChange ?? 0) - position);
  return (
    <div class={isPaused ? 'alarm calm' : 'alarm bad'}>
      <Icon name={isPaused ? 'pause' : 'stop'} />
      <div>
        <b>{isPaused ? 'Paused by a user' : 'Disabled by the server'}</b>
        <p>
          {since && `Since ${longTime(new Date(since))}. `}
          {!isPaused && reason && `${reasonText(reason)}. `}
          Nothing is sent.{' '}
          {behind > 0
            ? `It is ${count(behind, 'change')} behind, and catches up after you resume it.`
            : 'New changes wait until you resume it.'}
        </p>
      </div>
    </div>
  );
}
