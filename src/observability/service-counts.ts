// Counts the service events of one thread, for the metrics and the status. The counts of several threads can be added.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { REFUSAL_REASONS, type RefusalReason } from '../domain/token.ts';
import { addHistograms, addValue, createHistogram, type Histogram } from './histogram.ts';
import { addHours, createHourlyRequests, type Hour } from './hourly-requests.ts';
import type { DeliveryResult, Observe } from './service-events.ts';

export const LATENCY_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
export const BATCH_WRITES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 8192];
/** Percentiles of the event loop delay that are read. */
export const DELAY_PERCENTILES = [50, 99, 100];
/** Resolution of the event loop monitor, which is subtracted from its results. */
const EVENT_LOOP_RESOLUTION_MS = 20;

/** Counts of one route. */
export interface RouteCounts {
  byStatus: Map<number, number>;
  latency: Histogram;
}

/** The counts since the start. They can be sent to another thread. */
export interface Counts {
  /** Counts by method and path, such as `GET /plants/:id`. The key is empty for requests that match no route. */
  routes: Map<string, RouteCounts>;
  refused: Map<RefusalReason, number>;
  bugs: number;
  batches: Histogram;
  commits: Histogram;
  deliveries: Record<DeliveryResult, number>;
  backups: Record<'written' | 'failed', number>;
  hours: Map<number, Hour>;
}

/** What a thread reports: its counts and the delays of its event loop. */
export interface ThreadReport {
  counts: Counts;
  /** Delays since the last scrape, by percentile. Empty unless this is a scrape. */
  delaysS: number[];
}

type Route = { method: string; path: string } | undefined;

export class ServiceCounts {
  readonly #routes = new Map<Route, RouteCounts>();
  readonly #hourly: ReturnType<typeof createHourlyRequests>;
  readonly #eventLoop = monitorEventLoopDelay({ resolution: EVENT_LOOP_RESOLUTION_MS });
  readonly #counts = {
    refused: new Map(REFUSAL_REASONS.map((reason) => [reason, 0])),
    bugs: 0, // printed from the start, so that the first bug is an increase
    batches: createHistogram(BATCH_WRITES),
    commits: createHistogram(LATENCY_S),
    deliveries: { delivered: 0, failed: 0, dead: 0 },
    backups: { written: 0, failed: 0 },
  };

  constructor(clock: () => number = Date.now) {
    this.#hourly = createHourlyRequests(clock);
    this.#eventLoop.enable();
  }

  /** Counts an event. */
  readonly observe: Observe = (event) => {
    const counts = this.#counts;
    switch (event.kind) {
      case 'response': {
        const { byStatus, latency } = this.#countsOf(event.route);
        byStatus.set(event.status, (byStatus.get(event.status) ?? 0) + 1);
        addValue(latency, LATENCY_S, event.durationMs / 1000);
        this.#hourly.add(event.route?.isLong ? undefined : event.durationMs);
        return;
      }
      case 'commit':
        addValue(counts.batches, BATCH_WRITES, event.writes);
        addValue(counts.commits, LATENCY_S, event.durationMs / 1000);
        return;
      case 'refused':
        counts.refused.set(event.reason, (counts.refused.get(event.reason) ?? 0) + 1);
        return;
      case 'delivery':
        counts.deliveries[event.result]++;
        return;
      case 'backup_written':
        counts.backups.written++;
        return;
      case 'backup_failed':
        counts.backups.failed++;
        return;
      case 'bug':
        counts.bugs++;
    }
  };

  /** Returns the report of this thread. A scrape takes the delays of the event loop. */
  report(isScrape: boolean): ThreadReport {
    const routes = new Map([...this.#routes].map(([route, counts]) => [nameOf(route), counts]));
    const counts = { ...this.#counts, routes, hours: this.#hourly.read() };
    return { counts, delaysS: isScrape ? this.#takeDelaysS() : [] };
  }

  #takeDelaysS(): number[] {
    const eventLoop = this.#eventLoop;
    const delays = DELAY_PERCENTILES.map((percent) => {
      const measuredS = eventLoop.count > 0 ? eventLoop.percentile(percent) / 1e9 : 0;
      return Math.max(0, measuredS - EVENT_LOOP_RESOLUTION_MS / 1000);
    });
    eventLoop.reset();
    return delays;
  }

  #countsOf(route: Route): RouteCounts {
    let counts = this.#routes.get(route);
    if (!counts) {
      counts = { byStatus: new Map(), latency: createHistogram(LATENCY_S) };
      this.#routes.set(route, counts);
    }
    return counts;
  }
}

function nameOf(route: Route): string {
  return route ? `${route.method} ${route.path}` : '';
}

/** Returns the sum of the counts of two threads. */
export function addCounts(one: Counts, other: Counts): Counts {
  return {
    routes: mergeMaps(one.routes, other.routes, addRoutes),
    refused: mergeMaps(one.refused, other.refused, addNumbers),
    bugs: one.bugs + other.bugs,
    batches: addHistograms(one.batches, other.batches),
    commits: addHistograms(one.commits, other.commits),
    deliveries: addRecords(one.deliveries, other.deliveries),
    backups: addRecords(one.backups, other.backups),
    hours: mergeMaps(one.hours, other.hours, addHours),
  };
}

/** Returns the entries of both maps. `add` merges the values of a key that is in both. */
function mergeMaps<Key, Value>(
  one: Map<Key, Value>,
  other: Map<Key, Value>,
  add: (one: Value, other: Value) => Value,
): Map<Key, Value> {
  const sum = new Map(one);
  for (const [key, value] of other) {
    const own = one.get(key);
    sum.set(key, own === undefined ? value : add(own, value));
  }
  return sum;
}

function addRoutes(one: RouteCounts, other: RouteCounts): RouteCounts {
  return {
    byStatus: mergeMaps(one.byStatus, other.byStatus, addNumbers),
    latency: addHistograms(one.latency, other.latency),
  };
}

function addRecords<Key extends string>(one: Record<Key, number>, other: Record<Key, number>): Record<Key, number> {
  const keys = Object.keys(one) as Key[];
  return Object.fromEntries(keys.map((key) => [key, one[key] + other[key]])) as Record<Key, number>;
}

function addNumbers(one: number, other: number): number {
  return one + other;
}
