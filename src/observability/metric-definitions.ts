// The metrics of the service, in the order in which they are printed. Labels are bounded: no ids, no paths but routes.

import type { monitorEventLoopDelay } from 'node:perf_hooks';
import { WEBHOOK_STATUSES } from '../domain/names.ts';
import type { StoreStats } from '../domain/store.ts';
import type { OpenFiles } from '../lib/open-files.ts';
import type { Histogram } from './histogram.ts';
import type { DeliveryResult, DenialReason } from './service-events.ts';

export const EVENT_LOOP_RESOLUTION_MS = 20;

type EventLoopDelay = ReturnType<typeof monitorEventLoopDelay>;

export type RouteName = { method: string; path: string } | undefined;

export interface RouteCounts {
  byStatus: Map<number, number>;
  latency: Histogram;
}

/** All that the metrics are computed from. Parts of the database are undefined while it is out of reach. */
export interface Measured {
  routes: Map<RouteName, RouteCounts>;
  denied: Map<DenialReason, number>;
  bugs: number;
  batches: Histogram;
  commits: Histogram;
  queuedWrites: number;
  eventLoop: EventLoopDelay;
  stats: StoreStats | undefined;
  deliveries: Record<DeliveryResult, number>;
  webhooks: { oldestWaitingS: number; statuses: string[] } | undefined;
  files: OpenFiles | undefined;
}

/** What follows the name, `{result="dead"}` or nothing, and the value. */
type Value = [suffix: string, value: number];

/** Returns a number for a metric without labels, and undefined for one that is unknown now. */
type Measure = (measured: Measured) => Value[] | number | undefined;

interface Definition {
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
  measure: Measure;
}

const counter = (help: string, measure: Measure): Definition => ({ type: 'counter', help, measure });
const gauge = (help: string, measure: Measure): Definition => ({ type: 'gauge', help, measure });
const histogram = (help: string, measure: Measure): Definition => ({ type: 'histogram', help, measure });

const DEFINITIONS: Record<string, Definition> = {
  plant_store_requests_total: counter(
    'Requests by route (empty where none takes them) and status (499 where the client went away before an answer)',
    ({ routes }) =>
      [...routes].flatMap(([route, { byStatus }]) =>
        [...byStatus].map(([status, count]): Value => [`{${labelsOf(route)},status="${status}"}`, count]),
      ),
  ),
  plant_store_request_duration_seconds: histogram(
    'Time from the end of the headers to the last byte of the answer; of a stream, until it ends',
    ({ routes }) => [...routes].flatMap(([route, { latency }]) => latency.values(labelsOf(route))),
  ),
  plant_store_refused_total: counter('Requests that were not let in, by reason', ({ denied }) =>
    [...denied].map(([reason, count]) => [`{reason="${reason}"}`, count]),
  ),
  plant_store_bugs_total: counter('What went wrong in the code: the log has the cause', ({ bugs }) => bugs),
  plant_store_batch_writes: histogram('Writes that shared a transaction', ({ batches }) => batches.values()),
  plant_store_commit_duration_seconds: histogram('Time of a transaction of writes, with its commit', ({ commits }) =>
    commits.values(),
  ),
  plant_store_waiting_writes: gauge('Writes that wait for a transaction', ({ queuedWrites }) => queuedWrites),
  plant_store_event_loop_delay_seconds: gauge(
    'How late the event loop was since these figures were last asked for',
    ({ eventLoop }) => [50, 99, 100].map((percent) => [`{quantile="${percent / 100}"}`, delayS(eventLoop, percent)]),
  ),
  process_cpu_seconds_total: counter('Processor time of the process', cpuSeconds),
  process_resident_memory_bytes: gauge('Memory of the process', () => process.memoryUsage.rss()),
  process_start_time_seconds: gauge(
    'When the process started, in seconds since 1970',
    () => Math.round(performance.timeOrigin) / 1000,
  ),
  plant_store_last_change: gauge('Number of the newest change of this database', ({ stats }) => stats?.lastSeq),
  plant_store_database_bytes: gauge(
    'Room that this database takes; of SQLite with its log',
    ({ stats }) => stats?.bytes,
  ),
  plant_store_deliveries_total: counter(
    'Attempts of this node to deliver a change to a webhook: delivered, failed (to be tried again), dead (given up)',
    ({ deliveries }) => Object.entries(deliveries).map(([result, count]) => [`{result="${result}"}`, count]),
  ),
  plant_store_oldest_waiting_delivery_seconds: gauge(
    'Age of the oldest change that a webhook of this database still has to be given; 0 when there is none',
    ({ webhooks }) => webhooks?.oldestWaitingS,
  ),
  plant_store_webhooks: gauge(
    'Webhooks of this database by status',
    ({ webhooks }) =>
      webhooks &&
      WEBHOOK_STATUSES.map((status) => [
        `{status="${status}"}`,
        webhooks.statuses.filter((own) => own === status).length,
      ]),
  ),
  process_open_fds: gauge('Files and connections that are open', ({ files }) => files?.open),
  process_max_fds: gauge('So many files and connections may be open', ({ files }) => files?.max),
};

/** Returns all metrics in the text format of Prometheus. */
export function printMetrics(measured: Measured): string {
  let text = '';
  for (const [name, { type, help, measure }] of Object.entries(DEFINITIONS)) {
    const found = measure(measured);
    if (found === undefined) continue;
    const values: Value[] = typeof found === 'number' ? [['', found]] : found;
    text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    for (const [suffix, value] of values) text += `${name}${suffix} ${value}\n`;
  }
  return text;
}

function labelsOf(route: RouteName): string {
  return `method="${route?.method ?? ''}",route="${route?.path.replace(/:(\w+)/g, '{$1}') ?? ''}"`;
}

function delayS(eventLoop: EventLoopDelay, percent: number): number {
  const measuredS = eventLoop.count > 0 ? eventLoop.percentile(percent) / 1e9 : 0;
  return Math.max(0, measuredS - EVENT_LOOP_RESOLUTION_MS / 1000);
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
