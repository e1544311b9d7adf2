// A service for tests of webhooks, with an admin token and a delivery clock that a test can advance by hours.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Delivery } from '../src/domain/delivery.ts';
import type { Webhook } from '../src/domain/webhook.ts';
import { createTestClock, type TestClock } from './delivery-clock.ts';
import { type Call, callerOf } from './request.ts';
import { startTestService, type TestService } from './service.ts';
import { until } from './until.ts';

export const ALL_EVENTS = ['plant.created', 'plant.updated', 'plant.deleted'];
/** The lease of production, renewed more often, so that it is valid again soon after the clock advances. */
const LEASE_TIMING = { renewEveryMs: 100, leaseMs: 20_000, attemptMs: 16_000 };
/** Maximum wait for a position. Positions are saved at long intervals. */
const SAVE_POSITION_EVERY_MS = 2000;
const MAX_LOOKS = 300;

export interface WebhookService {
  service: TestService;
  clock: TestClock;
  /** Calls the API with a token that has every scope. */
  call: Call;
  add(url: string, events?: string[]): Promise<{ id: string; secret: string }>;
  get(id: string): Promise<Webhook>;
  deliveries(id: string): Promise<Delivery[]>;
  /** Waits until this number of deliveries is listed, all of them delivered. */
  settled(id: string, count: number): Promise<void>;
  /** Waits until the position has reached this change. */
  reaches(id: string, seq: number): Promise<void>;
  remove(id: string): Promise<void>;
}

export async function startWebhookService(
  options: { databaseUrl?: string | undefined; leaseTiming?: typeof LEASE_TIMING } = {},
): Promise<WebhookService> {
  const { databaseUrl, leaseTiming = LEASE_TIMING } = options;
  const clock = createTestClock(true);
  const service = await startTestService({
    ...(databaseUrl && { databaseUrl }),
    env: { WEBHOOK_ALLOW_PRIVATE: '1' },
    delivery: { clock, leaseTiming },
  });
  const { secret } = await service.addToken({ scopes: ['admin', 'plants:read', 'plants:write'] });
  const call = callerOf(service, secret);
  return {
    service,
    clock,
    call,
    async add(url, events) {
      const { status, body } = await call('POST', '/webhooks', { url, events });
      assert.equal(status, 201, body);
      return JSON.parse(body);
    },
    get: async (id) => JSON.parse((await call('GET', `/webhooks/${id}`)).body),
    deliveries: async (id) => JSON.parse((await call('GET', `/webhooks/${id}/deliveries`)).body),
    async settled(id, count) {
      await until(async () => {
        const listed = await service.store.listDeliveries(id, { limit: count + 1 });
        return listed.length === count && listed.every(({ status }) => status === 'delivered');
      });
    },
    async reaches(id, seq) {
      for (let looks = 0; (await service.store.getWebhook(id)).position < seq; looks++) {
        assert.ok(looks < MAX_LOOKS, `the position does not reach ${seq}`);
        clock.pass(SAVE_POSITION_EVERY_MS);
        await sleep(leaseTiming.renewEveryMs);
      }
    },
    async remove(id) {
      assert.equal((await call('DELETE', `/webhooks/${id}`)).status, 204);
    },
  };
}
