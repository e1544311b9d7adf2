// Queues, changes and outcomes that the tests of webhook queues share.

import type { Change } from '../src/domain/change.ts';
import type { StoredWebhook } from '../src/domain/webhook.ts';
import type { OpenDelivery } from '../src/domain/webhook-store.ts';
import type { PendingDelivery } from '../src/webhooks/per-plant-queue.ts';
import type { Outcome } from '../src/webhooks/receiver-client.ts';
import { WebhookQueue } from '../src/webhooks/webhook-queue.ts';

export const HOUR_MS = 3_600_000;
export const OK: Outcome = { delivered: true, code: 200, answer: 'ok', durationMs: 5 };
export const FAILED: Outcome = {
  delivered: false,
  code: 500,
  answer: 'no',
  error: 'The receiver responded with status 500',
  durationMs: 5,
};

export function webhookAt(position: number, more: Partial<StoredWebhook> = {}): StoredWebhook {
  return {
    id: 'whk_1',
    url: 'https://example.com/',
    events: ['plant.created', 'plant.updated'],
    format: 'plant',
    name: null,
    secret: 'whsec_AAAA',
    oldSecret: null,
    createdMs: 0,
    position,
    replay: null,
    failing: null,
    disabledMs: null,
    epoch: 0,
    retries: 0,
    ...more,
  };
}

export function queueAt(
  position = 0,
  open: OpenDelivery[] = [],
  more: Partial<StoredWebhook> = {},
  maxOpen = 1000,
): WebhookQueue {
  return new WebhookQueue(webhookAt(position, more), open, { maxOpen, random: () => 0.5 });
}

export function change(seq: number, plantId: number, type: Change['type'] = 'plant.created'): Change {
  return { seq, type, time: '', plant: { id: BigInt(plantId), name: `v${seq}` }, token: 'cli' };
}

/** Opens the window, so that several deliveries can be in flight. */
export function warmUp(queue: WebhookQueue, firstSeq: number, count: number): void {
  for (let seq = firstSeq; seq < firstSeq + count; seq++) {
    queue.addPage([change(seq, -seq)], 0);
    queue.finish(queue.next(0) as PendingDelivery, OK, 0);
  }
}

export function allNext(queue: WebhookQueue, nowMs = 0): number[] {
  const seqs: number[] = [];
  for (let delivery = queue.next(nowMs); delivery; delivery = queue.next(nowMs)) seqs.push(delivery.seq);
  return seqs;
}
