// The link from the dashboard to a webhook that does not deliver, with its next attempt.

import { useQuery } from '@tanstack/preact-query';
import type { Webhook } from 'plant-store/client';
import { useWorkspace } from '../session/workspace.ts';
import { Icon } from '../shared/icon.tsx';
import { duration, exactTime, useNow } from '../shared/time.tsx';
import { linkTo } from '../view.ts';
import { nameOfWebhook } from './webhook-name.ts';

const REFRESH_MS = 15_000;

export function ProblemLink({ webhook }: { webhook: Webhook }) {
  const isDisabled = webhook.status === 'disabled';
  const next = useNextAttempt(webhook.id, !isDisabled);
  return (
    <a class="card-link" href={linkTo('webhooks', { id: webhook.id })}>
      <Icon name="alert" />
      <span>
        <b>
          <bdi>{nameOfWebhook(webhook)}</bdi> {isDisabled ? 'was disabled' : 'is failing'}
        </b>
        {next !== undefined ? <NextAttempt at={next} /> : webhook.reason}
      </span>
      <Icon name="chevR" />
    </a>
  );
}

function NextAttempt({ at }: { at: string }) {
  const leftMs = Date.parse(at) - useNow();
  return <span title={exactTime(at)}>Next attempt {leftMs > 1000 ? `in ${duration(leftMs)}` : 'now'}</span>;
}

/** Returns the time of the earliest next attempt. Undefined if none is planned. */
function useNextAttempt(id: string, isEnabled: boolean): string | undefined {
  const { client } = useWorkspace();
  const { data } = useQuery({
    queryKey: ['next-attempt', id],
    queryFn: async ({ signal }) => {
      const waiting = await client.webhooks.deliveries(id, { status: 'waiting', limit: 100 }, { signal });
      return (
        waiting
          .map(({ next }) => next ?? '')
          .filter(Boolean)
          .sort()[0] ?? null
      );
    },
    enabled: isEnabled,
    refetchInterval: REFRESH_MS,
  });
  return data ?? undefined;
}
