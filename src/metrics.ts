// Facts → figures for Prometheus. Labels are bounded: no ids, no paths.

import { Counter, Gauge, Registry } from 'prom-client';
import type { Fact, Observe } from './observe.ts';
import { describeWebhook, WEBHOOK_STATUSES, type WebhookStore } from './webhook.ts';

export interface Metrics {
  observe: Observe;
  contentType: string;
  print(): Promise<string>;
}

export function createMetrics(store: WebhookStore, clock: () => number = Date.now): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const deliveries = new Counter({
    name: 'plant_store_deliveries_total',
    help: 'Attempts of this node to deliver a change to a webhook: delivered, failed (to be tried again), dead (given up)',
    labelNames: ['result'],
    registers,
  });
  for (const result of ['delivered', 'failed', 'dead']) deliveries.inc({ result }, 0);
  new Gauge({
    name: 'plant_store_oldest_waiting_delivery_seconds',
    help: 'Age of the oldest change that a webhook of this database still has to be given; 0 when there is none',
    registers,
    async collect() {
      const oldestMs = await store.oldestWaitingMs();
      this.set(oldestMs === undefined ? 0 : Math.max(0, clock() - oldestMs) / 1000);
    },
  });
  new Gauge({
    name: 'plant_store_webhooks',
    help: 'Webhooks of this database by status',
    labelNames: ['status'],
    registers,
    async collect() {
      const counts = Map.groupBy(await store.listWebhooks(), (webhook) => describeWebhook(webhook).status);
      for (const status of WEBHOOK_STATUSES) this.set({ status }, counts.get(status)?.length ?? 0);
    },
  });

  return {
    observe(fact: Fact) {
      if (fact.kind === 'delivery') deliveries.inc({ result: fact.result });
    },
    contentType: registry.contentType,
    print: () => registry.metrics(),
  };
}
