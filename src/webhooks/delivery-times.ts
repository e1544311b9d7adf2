// The clocks of webhook delivery. Everything that waits uses the monotonic clock, which nobody can set; the store keeps
// wall-clock times. Times are converted here, when they are loaded and saved, and nowhere else.

import type { DeliveryStore, StoredWebhook } from '../domain/webhook.ts';

export interface DeliveryClock {
  /** Milliseconds on a clock that only moves forward. It may stop while the machine sleeps. */
  monotonicMs(): number;
  /** Milliseconds since 1970, on a clock that may be set. */
  wallMs(): number;
}

export const SYSTEM_CLOCK: DeliveryClock = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };

/** Returns the store with the times of failures, attempts and waits on the monotonic clock. */
export function withMonotonicTimes(store: DeliveryStore, clock: DeliveryClock): DeliveryStore {
  const aheadMs = () => clock.wallMs() - clock.monotonicMs();
  return {
    async claimWebhooks(node, leaseMs) {
      const claim = await store.claimWebhooks(node, leaseMs);
      const byMs = -aheadMs();
      return { ...claim, webhooks: claim.webhooks.map((webhook) => shiftFailure(webhook, byMs)) };
    },
    releaseWebhooks: (node, ids) => store.releaseWebhooks(node, ids),
    async openDeliveries(ids) {
      const open = await store.openDeliveries(ids);
      const byMs = -aheadMs();
      for (const deliveries of open.values()) for (const one of deliveries) one.dueMs += byMs;
      return open;
    },
    recordDeliveries(node, progress) {
      const byMs = aheadMs();
      const inWallTime = progress.map((one) => ({
        ...shiftFailure(one, byMs),
        records: one.records.map((record) => ({
          ...record,
          dueMs: Math.round(record.dueMs + byMs),
          timeMs: record.timeMs && Math.round(record.timeMs + byMs),
        })),
      }));
      return store.recordDeliveries(node, inWallTime);
    },
  };
}

function shiftFailure<T extends Pick<StoredWebhook, 'failing' | 'disabledMs'>>(one: T, byMs: number): T {
  const { failing, disabledMs } = one;
  return {
    ...one,
    failing: failing && { ...failing, sinceMs: Math.round(failing.sinceMs + byMs) },
    disabledMs: disabledMs && Math.round(disabledMs + byMs),
  };
}
