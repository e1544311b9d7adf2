// How far a webhook has come: its newest deliveries, those that wait, and the changes that it has not reached yet.

import { useQuery } from '@tanstack/preact-query';
import type { Delivery, PlantStoreClient, Webhook } from 'plant-store/client';
import { useWorkspace } from '../session/workspace.ts';

/** Interval at which the open webhook is read again. After changes of the store, it is not read more often either. */
export const REFRESH_MS = 3000;
/** Number of deliveries in the strip. */
export const RECENT = 48;
/** The counts of deliveries stop at this number. */
export const MOST = 1000;

export interface Progress {
  /** The newest deliveries, newest first. */
  recent: Delivery[];
  /** Deliveries that wait for an attempt, newest first, at most `MOST`. */
  waiting: Delivery[];
  /** Deliveries that the server has given up, newest first, at most `MOST`. */
  dead: Delivery[];
  /** The newest delivery that succeeded, if the server still has one. */
  lastDelivered: Delivery | undefined;
}

export function useProgress({ id }: Webhook, everyMs: number): Progress | undefined {
  const { client } = useWorkspace();
  const { data } = useQuery({
    queryKey: ['deliveries', id, 'progress'],
    queryFn: ({ signal }) => readProgress(client, id, signal),
    refetchInterval: everyMs,
    staleTime: 1000,
  });
  return data;
}

async function readProgress({ webhooks }: PlantStoreClient, id: string, signal: AbortSignal): Promise<Progress> {
  const [recent, waiting, dead] = await Promise.all([
    webhooks.deliveries(id, { limit: RECENT }, { signal }),
    webhooks.deliveries(id, { status: 'waiting', limit: MOST }, { signal }),
    webhooks.deliveries(id, { status: 'dead', limit: MOST }, { signal }),
  ]);
  const lastDelivered =
    recent.find(({ status }) => status === 'delivered') ??
    (recent.length < RECENT
      ? undefined
      : (await webhooks.deliveries(id, { status: 'delivered', limit: 1 }, { signal }))[0]);
  return { recent, waiting, dead, lastDelivered };
}

/** The number of the newest change. */
export function useLastChange(everyMs: number): number | undefined {
  const { client, can } = useWorkspace();
  const { data } = useQuery({
    queryKey: ['last-change'],
    // The first is cheaper, but needs the scope.
    queryFn: async ({ signal }) =>
      can('plants:read') ? await client.lastSeq({ signal }) : (await client.status({ signal })).lastChange,
    refetchInterval: everyMs,
  });
  return data;
}

/** Returns the time of the next attempt of any waiting delivery. */
export function nextAttempt(waiting: Delivery[]): string | undefined {
  return waiting
    .flatMap(({ next }) => next ?? [])
    .reduce<string | undefined>((a, b) => (a && a < b ? a : b), undefined);
}
