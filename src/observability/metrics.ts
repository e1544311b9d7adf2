// Prints the service events of all threads as Prometheus metrics, and describes the traffic for the status.

import type { Store } from '../domain/store.ts';
import type { RefusalReason } from '../domain/token.ts';
import { describeWebhook } from '../domain/webhook.ts';
import { countOpenFiles } from '../lib/open-files.ts';
import { createBugReport, isUnavailable } from './bug-report.ts';
import { describeHours, type HourCount } from './hourly-requests.ts';
import { type Measured, printMetrics } from './metric-definitions.ts';
import { addCounts, type ThreadReport } from './service-counts.ts';
import type { Observe } from './service-events.ts';

export interface Metrics {
  contentType: string;
  print(): Promise<string>;
  /** Returns the requests that this node rejected since its start, and its requests per hour. */
  traffic(): Promise<{ refused: Record<RefusalReason, number>; hours: HourCount[] }>;
}

export interface MetricsOptions {
  store: Store;
  /** Returns the reports of all threads. Only a scrape takes the delays of their event loops. */
  readThreads(isScrape: boolean): Promise<ThreadReport[]>;
  observe: Observe;
  clock: () => number;
}

/** Returns metrics that read database values from the store when they are printed. */
export function createMetrics({ store, readThreads, observe, clock }: MetricsOptions): Metrics {
  const reportBug = createBugReport(observe);

  return {
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    async print() {
      const [threads, stats, webhooks, files] = await Promise.all([
        readThreads(true).then(addReports),
        ifAvailable(store.stats()),
        ifAvailable(measureWebhooks()),
        countOpenFiles(),
      ]);
      return printMetrics({ ...threads, queuedWrites: store.queuedWrites(), stats, webhooks, files });
    },
    async traffic() {
      const { counts } = addReports(await readThreads(false));
      return {
        refused: Object.fromEntries(counts.refused) as Record<RefusalReason, number>,
        hours: describeHours(counts.hours),
      };
    },
  };

  /** Returns undefined while the database is unreachable, because the other metrics are needed then. */
  function ifAvailable<T>(reading: Promise<T>): Promise<T | undefined> {
    return reading.catch((error) => {
      if (!isUnavailable(error)) reportBug(error);
      return undefined;
    });
  }

  async function measureWebhooks(): Promise<Measured['webhooks']> {
    const [oldestMs, webhooks] = await Promise.all([store.oldestWaitingMs(), store.listWebhooks()]);
    return {
      oldestWaitingS: oldestMs === undefined ? 0 : Math.max(0, clock() - oldestMs) / 1000,
      statuses: webhooks.map((webhook) => describeWebhook(webhook, clock()).status),
    };
  }
}

/** Returns the sum of all counts, and the longest delays. */
function addReports(reports: ThreadReport[]): ThreadReport {
  return reports.reduce((one, other) => ({
    counts: addCounts(one.counts, other.counts),
    delaysS: one.delaysS.map((delayS, at) => Math.max(delayS, other.delaysS[at] as number)),
  }));
}
