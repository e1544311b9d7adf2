// A service with what tests of webhooks need: an admin, and a clock of deliveries that runs and on which hours pass at once.

import assert from 'node:assert/strict';
import type { Delivery, Webhook } from '../src/domain/webhook.ts';
import { createTestClock, type TestClock } from './delivery-clock.ts';
import { type Call, callerOf } from './request.ts';
import { startTestService, type TestService } from './service.ts';
import { until } from './until.ts';

export const ALL_EVENTS = ['plant.created', 'plant.updated', 'plant.deleted'];
/** The lease of production, renewed more often: it must be valid again soon after time has passed. */
const LEASE_TIMING = { renewEveryMs: 100, leaseMs: 20_000, attemptMs: 16_000 };

export interface WebhookService {
  service: TestService;
  clock: TestClock;
  /** As an admin who may read and write plants. */
  call: Call;
  add(url: string, events?: string[]): Promise<{ id: string; secret: string }>;
  get(id: string): Promise<Webhook>;
  deliveries(id: string): Promise<Delivery[]>;
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
    async reaches(id, seq) {
      await until(async () => {
        const { position } = await service.store.getWebhook(id);
        if (position < seq) clock.pass(2000); // positions are saved as seldom
        return position >= seq;
      });
    },
    async remove(id) {
      assert.equal((await call('DELETE', `/webhooks/${id}`)).status, 204);
    },
  };
}
