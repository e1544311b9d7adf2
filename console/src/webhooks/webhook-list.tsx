// The list of webhooks, with the state of each.

import type { Webhook } from 'plant-store/client';
import { count, number } from '../shared/numbers.ts';
import { clockTime, exactTime, relativeTime, Time, useNow } from '../shared/time.tsx';
import { linkTo } from '../view.ts';
import { StateBadge } from './state-badge.tsx';
import { MOST, nextAttempt, type Progress, useProgress } from './use-progress.ts';
import { stateOf, type WebhookState } from './webhook-state.ts';
import { countUpTo, reasonText, splitAddress, untilText } from './webhook-text.ts';

const REFRESH_MS = 15_000;

export function WebhookList(props: {
  webhooks: Webhook[];
  current: string | undefined;
  lastChange: number | undefined;
}) {
  return (
    <ul class="hook-list" aria-label="Webhooks">
      {props.webhooks.map((webhook) => (
        <li key={webhook.id}>
          <Item webhook={webhook} isCurrent={webhook.id === props.current} lastChange={props.lastChange} />
        </li>
      ))}
    </ul>
  );
}

function Item(props: { webhook: Webhook; isCurrent: boolean; lastChange: number | undefined }) {
  const { webhook, isCurrent, lastChange } = props;
  const progress = useProgress(webhook, REFRESH_MS);
  const state = stateOf(webhook);
  const { host, path } = splitAddress(webhook.url);
  const behind = lastChange === undefined ? 0 : Math.max(0, lastChange - webhook.position);
  return (
    <a
      class={`hook ${state}`}
      href={linkTo('webhooks', { id: webhook.id })}
      aria-current={isCurrent ? 'true' : undefined}
    >
      <span class="hook-h">
        <b title={webhook.name}>
          <bdi>{webhook.name ?? host}</bdi>
        </b>
        <StateBadge of={state} />
      </span>
      <span class="hook-p" title={webhook.url}>
        {webhook.name && host}
        {path}
      </span>
      <span class="hook-l">
        <Line webhook={webhook} state={state} progress={progress} />
      </span>
      <More webhook={webhook} state={state} progress={progress} behind={behind} />
    </a>
  );
}

interface About {
  webhook: Webhook;
  state: WebhookState;
  progress: Progress | undefined;
}

function Line({ webhook: { since }, state, progress }: About) {
  const nowMs = useNow();
  if (state === 'failing') {
    const next = progress && nextAttempt(progress.waiting);
    return <>{next ? `Next attempt ${untilText(next, nowMs)}` : 'Failing'}</>;
  }
  if (state !== 'active') {
    return (
      <>
        {state === 'paused' ? 'Paused' : 'Disabled'} {since && <Time at={since} />}
      </>
    );
  }
  if (!progress) return <>&nbsp;</>;
  const at = progress.lastDelivered?.time;
  return at ? (
    <span title={exactTime(at)}>Last delivery {relativeTime(new Date(at), nowMs)}</span>
  ) : (
    <>No change delivered yet</>
  );
}

function More({ webhook: { reason, since }, state, progress, behind }: About & { behind: number }) {
  const waiting = progress?.waiting.length ?? 0;
  const parts = [
    ...(state === 'failing' && reason ? [`${reasonText(reason)}${since ? `, since ${sinceText(since)}` : ''}`] : []),
    ...(state === 'disabled' && reason ? [reasonText(reason)] : []),
    ...(waiting > 0 ? [`${countUpTo(waiting, MOST)} waiting`] : []),
    ...(progress && progress.dead.length > 0 ? [`${number(progress.dead.length)} given up`] : []),
    ...(behind > 0 ? [`${count(behind, 'change')} behind`] : []),
  ];
  return parts.length > 0 ? <span class="hook-m">{parts.join(' · ')}</span> : null;
}

/** Returns the time of day within a day, else how long ago it was. */
export function sinceText(since: string, nowMs = Date.now()): string {
  const time = new Date(since);
  return nowMs - time.getTime() < 86_400_000 ? clockTime(time) : relativeTime(time, nowMs);
}
