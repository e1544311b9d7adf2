// Facts → figures, in the text format of Prometheus. Labels are bounded: no ids, no paths.

import type { Fact, Observe } from './observe.ts';
import { describeWebhook, WEBHOOK_STATUSES, type WebhookStore } from './webhook.ts';

export interface Metrics {
  observe: Observe;
  contentType: string;
  print(): Promise<string>;
}

interface Metric {
  name: string;
  type: 'counter' | 'gauge';
  help: string;
  /** By their labels, as they are printed: `{result="dead"}`, or nothing. */
  values: [labels: string, value: number][];
}

export function createMetrics(store: WebhookStore, clock: () => number = Date.now): Metrics {
  const deliveries = { delivered: 0, failed: 0, dead: 0 };

  return {
    observe(fact: Fact) {
      if (fact.kind === 'delivery') deliveries[fact.result]++;
    },
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    async print() {
      const [oldestMs, webhooks] = await Promise.all([store.oldestWaitingMs(), store.listWebhooks()]);
      const statuses = webhooks.map((webhook) => describeWebhook(webhook, clock()).status);
      const metrics: Metric[] = [
        {
          name: 'plant_store_deliveries_total',
          type: 'counter',
          help: 'Attempts of this node to deliver a change to a webhook: delivered, failed (to be tried again), dead (given up)',
          values: Object.entries(deliveries).map(([result, count]) => [`{result="${result}"}`, count]),
        },
        {
          name: 'plant_store_oldest_waiting_delivery_seconds',
          type: 'gauge',
          help: 'Age of the oldest change that a webhook of this database still has to be given; 0 when there is none',
          values: [['', oldestMs === undefined ? 0 : Math.max(0, clock() - oldestMs) / 1000]],
        },
        {
          name: 'plant_store_webhooks',
          type: 'gauge',
          help: 'Webhooks of this database by status',
          values: WEBHOOK_STATUSES.map((status) => [
            `{status="${status}"}`,
            statuses.filter((own) => own === status).length,
          ]),
        },
      ];
      return metrics.map(toText).join('');
    },
  };
}

function toText({ name, type, help, values }: Metric): string {
  const lines = values.map(([labels, value]) => `${name}${labels} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}
