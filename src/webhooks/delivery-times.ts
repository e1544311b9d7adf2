// Converts the times of webhook delivery. Delays use the monotonic clock, which cannot be set. The store keeps
// wall-clock times. Only this file converts between the two, when times are loaded and saved.

import type { StoredWebhook } from '../domain/webhook.ts';
import type { DeliveryStore } from '../domain/webhook-store.ts';

/** The two clocks of webhook delivery. */
export interface DeliveryClock {
  /** Milliseconds on a clock that only moves forward. It can stop while the machine sleeps. */
  monotonicMs(): number;
  /** Milliseconds since 1970, on a clock that can be set. */
  wallMs(): number;
}

/** The clocks of the operating system. */
export const SYSTEM_CLOCK: DeliveryClock = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };

/** Returns a store whose times of failures, attempts and retries are on the monotonic clock. */
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
