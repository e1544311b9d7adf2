// Counts service events and prints them as Prometheus metrics.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Store } from '../domain/store.ts';
import { describeWebhook } from '../domain/webhook.ts';
import { countOpenFiles } from '../lib/open-files.ts';
import { createBugReport, isUnavailable } from './bug-report.ts';
import { createHistogram } from './histogram.ts';
import { createHourlyRequests, type HourCount } from './hourly-requests.ts';
import {
  EVENT_LOOP_RESOLUTION_MS,
  type Measured,
  printMetrics,
  type RouteCounts,
  type RouteName,
} from './metric-definitions.ts';
import { DENIAL_REASONS, type DenialReason, type Observe } from './service-events.ts';

const LATENCY_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const BATCH_WRITES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 8192];

/** The metrics of a node. */
export interface Metrics {
  observe: Observe;
  contentType: string;
  print(): Promise<string>;
  /** Returns the requests that this node rejected since its start, and its requests per hour. */
  traffic(): { refused: Record<DenialReason, number>; hours: HourCount[] };
}

/** Returns metrics that read database values from the store when they are printed. */
export function createMetrics(store: Store, observe: Observe = () => {}, clock: () => number = Date.now): Metrics {
  const reportBug = createBugReport(observe);
  const routes = new Map<RouteName, RouteCounts>();
  const denied = new Map(DENIAL_REASONS.map((reason) => [reason, 0]));
  const deliveries = { delivered: 0, failed: 0, dead: 0 };
  const backups = { written: 0, failed: 0 };
  let bugs = 0; // printed from the start, so that the first bug is an increase
  const hourly = createHourlyRequests(clock);
  const batches = createHistogram(BATCH_WRITES);
  const commits = createHistogram(LATENCY_S);
  const eventLoop = monitorEventLoopDelay({ resolution: EVENT_LOOP_RESOLUTION_MS });
  eventLoop.enable();

  return {
    observe(event) {
      switch (event.kind) {
        case 'answer': {
          const { byStatus, latency } = countsOf(event.route);
          byStatus.set(event.status, (byStatus.get(event.status) ?? 0) + 1);
          latency.add(event.durationMs / 1000);
          hourly.add(event.route?.isLong ? undefined : event.durationMs);
          return;
        }
        case 'commit':
          batches.add(event.writes);
          commits.add(event.durationMs / 1000);
          return;
        case 'refused':
          denied.set(event.reason, (denied.get(event.reason) ?? 0) + 1);
          return;
        case 'delivery':
          deliveries[event.result]++;
          return;
        case 'backup_written':
          backups.written++;
          return;
        case 'backup_failed':
          backups.failed++;
          return;
        case 'bug':
          bugs++;
      }
    },
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    async print() {
      const [stats, webhooks, files] = await Promise.all([
        ifAvailable(store.stats()),
        ifAvailable(measureWebhooks()),
        countOpenFiles(),
      ]);
      const counted = { routes, denied, deliveries, backups, bugs, batches, commits, eventLoop };
      const text = printMetrics({ ...counted, queuedWrites: store.queuedWrites(), stats, webhooks, files });
      eventLoop.reset();
      return text;
    },
    traffic: () => ({
      refused: Object.fromEntries(denied) as Record<DenialReason, number>,
      hours: hourly.read(),
    }),
  };

  function countsOf(route: RouteName): RouteCounts {
    let counts = routes.get(route);
    if (!counts) {
      counts = { byStatus: new Map(), latency: createHistogram(LATENCY_S) };
      routes.set(route, counts);
    }
    return counts;
  }

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
