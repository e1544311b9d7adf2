// Tests a webhook queue under random failures, retries, replays and crashes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { change, FAILED, HOUR_MS, OK, webhookAt } from '../../testing/webhook-queue.ts';
import type { Change } from '../domain/change.ts';
import type { DeliveryRecord } from '../domain/webhook-store.ts';
import type { PendingDelivery } from './per-plant-queue.ts';
import { WebhookQueue } from './webhook-queue.ts';

test('The queue loses no change and keeps the order per plant, through any failures and crashes', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.constant({ does: 'read' } as const) },
    { weight: 6, arbitrary: fc.constant({ does: 'send' } as const) },
    {
      weight: 6,
      arbitrary: fc.record({
        does: fc.constant('finish' as const),
        at: fc.nat(40),
        delivered: fc.boolean(),
        code: fc.constantFrom(200, 429, 500),
        quick: fc.boolean(),
      }),
    },
    { weight: 3, arbitrary: fc.constant({ does: 'record' } as const) },
    { weight: 1, arbitrary: fc.constant({ does: 'crash' } as const) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('retry' as const), seq: fc.nat(30) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        does: fc.constant('replay' as const),
        from: fc.integer({ min: 1, max: 30 }),
        length: fc.nat(10),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ does: fc.constant('wait' as const), ms: fc.constantFrom(10, 1500, 10_000, HOUR_MS) }),
    },
  );
  const types = fc.constantFrom<Change['type']>('plant.created', 'plant.updated', 'plant.deleted');
  const log = fc.array(fc.record({ plant: fc.nat(3), type: types }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(log, fc.array(step, { maxLength: 150 }), fc.integer({ min: 2, max: 10 }), (changes, steps, maxOpen) => {
      const all = changes.map(({ plant, type }, at) => change(at + 1, plant, type));
      const wanted = all.filter(({ type }) => type !== 'plant.deleted');
      const recorded = new Map<number, DeliveryRecord>();
      const settled = new Set<number>();
      let webhook = webhookAt(0);
      let queue = begin();
      let inFlight: PendingDelivery[] = [];
      let nowMs = 0;

      for (const one of steps) run(one);
      for (let round = 0; !isDone() && round < 1000; round++) {
        run({ does: 'read' });
        run({ does: 'send' });
        run({ does: 'finish', at: 0, delivered: true, code: 200, quick: true });
        run({ does: 'record' });
        run({ does: 'wait', ms: HOUR_MS });
      }
      assert.ok(isDone(), `${settled.size} of ${wanted.length} were sent, and the position is ${webhook.position}`);

      function isDone(): boolean {
        const waiting = [...recorded.values()].filter(({ status }) => status === 'waiting');
        return settled.size === wanted.length && webhook.position === all.length && waiting.length === 0;
      }

      function begin(): WebhookQueue {
        return new WebhookQueue(webhook, openDeliveries(), { maxOpen, random: () => 0.5 });
      }

      function openDeliveries(): DeliveryRecord[] {
        return [...recorded.values()].filter(({ status }) => status === 'waiting').sort((a, b) => a.seq - b.seq);
      }

      function run(one: Step): void {
        switch (one.does) {
          case 'read':
            if (queue.wantsMore(nowMs)) queue.addPage(all.slice(queue.readTo, queue.readTo + 4), nowMs);
            return;
          case 'send': {
            const delivery = queue.next(nowMs);
            if (!delivery) return;
            const earlier = wanted.filter(({ plant, seq }) => plant.id === delivery.plantId && seq < delivery.seq);
            for (const { seq } of earlier)
              assert.ok(settled.has(seq), `${delivery.seq} was sent before ${seq} was done`);
            assert.ok(!inFlight.some(({ plantId }) => plantId === delivery.plantId), 'two of one plant at once');
            inFlight.push(delivery);
            return;
          }
          case 'finish': {
            const [delivery] = inFlight.splice(one.at % Math.max(1, inFlight.length), 1);
            if (!delivery) return;
            const outcome = one.delivered ? OK : { ...FAILED, code: one.code };
            const result = queue.finish(delivery, { ...outcome, durationMs: one.quick ? 5 : 3000 }, nowMs);
            if (result !== 'failed') settled.add(delivery.seq);
            return;
          }
          case 'record': {
            const progress = queue.progress(nowMs, true);
            if (!progress) return;
            for (const record of progress.records) recorded.set(record.seq, record);
            for (const { seq } of wanted.filter(({ seq }) => seq <= progress.position)) {
              assert.ok(recorded.has(seq), `the position ${progress.position} has passed ${seq}`);
            }
            const { replay } = webhook;
            const position = progress.position;
            webhook = { ...webhook, position, replay: replay && position <= replay.to ? replay : null };
            queue.confirm(progress);
            return;
          }
          case 'retry': {
            const known = recorded.get(one.seq);
            if (!known) return;
            recorded.set(one.seq, { ...known, status: 'waiting', attempts: 0, dueMs: nowMs });
            queue.merge(openDeliveries());
            return;
          }
          case 'replay': {
            const frontier = webhook.replay?.resume ?? webhook.position;
            if (one.from > frontier || inFlight.length > 0) return; // requests in flight end first
            const to = Math.max(one.from + one.length, webhook.replay?.to ?? 0);
            webhook = {
              ...webhook,
              position: Math.min(webhook.position, one.from - 1),
              replay: to < frontier ? { to, resume: frontier } : null,
            };
            for (const { seq, status } of [...recorded.values()]) {
              if (status === 'waiting' && seq >= one.from && seq <= one.from + one.length) recorded.delete(seq);
            }
            queue = begin();
            return;
          }
          case 'crash':
            inFlight = [];
            queue = begin();
            return;
          case 'wait':
            nowMs += one.ms;
        }
      }
    }),
    { numRuns: 500 },
  );
});

type Step =
  | { does: 'read' | 'send' | 'record' | 'crash' }
  | { does: 'finish'; at: number; delivered: boolean; code: number; quick: boolean }
  | { does: 'retry'; seq: number }
  | { does: 'replay'; from: number; length: number }
  | { does: 'wait'; ms: number };
