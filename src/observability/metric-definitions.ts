// Defines the metrics, in the order in which they are printed. Labels are bounded: they contain routes, but no ids or
// paths.

import { WEBHOOK_STATUSES } from '../domain/names.ts';
import type { StoreStats } from '../domain/store.ts';
import type { OpenFiles } from '../lib/open-files.ts';
import { samplesOf } from './histogram.ts';
import { BATCH_WRITES, DELAY_PERCENTILES, LATENCY_S, type ThreadReport } from './service-counts.ts';

/** The data of all metrics. Database values are undefined while the database is unreachable. */
export interface Measured extends ThreadReport {
  queuedWrites: number;
  stats: StoreStats | undefined;
  webhooks: { oldestWaitingS: number; statuses: string[] } | undefined;
  files: OpenFiles | undefined;
}

/** The suffix of the metric name, such as `{result="dead"}`, and the value. */
type Value = [suffix: string, value: number];

/** Returns a number for a metric without labels, or undefined if the value is currently unknown. */
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
    'Requests by method, route (empty if none matches) and status (499 if the response was aborted: the client disconnected before it, or it failed midway)',
    ({ counts }) =>
      [...counts.routes].flatMap(([route, { byStatus }]) =>
        [...byStatus].map(([status, count]): Value => [`{${labelsOf(route)},status="${status}"}`, count]),
      ),
  ),
  plant_store_request_duration_seconds: histogram(
    'Time from the end of the request headers to the last byte of the response, including streams',
    ({ counts }) =>
      [...counts.routes].flatMap(([route, { latency }]) => samplesOf(latency, LATENCY_S, labelsOf(route))),
  ),
  plant_store_refused_total: counter(
    'Requests rejected by authentication, authorization or limits, by reason',
    ({ counts }) => [...counts.refused].map(([reason, count]) => [`{reason="${reason}"}`, count]),
  ),
  plant_store_bugs_total: counter(
    'Internal errors (bugs), whose causes are in the service log',
    ({ counts }) => counts.bugs,
  ),
  plant_store_batch_writes: histogram('Writes per transaction', ({ counts }) =>
    samplesOf(counts.batches, BATCH_WRITES),
  ),
  plant_store_commit_duration_seconds: histogram('Duration of a write transaction including its commit', ({ counts }) =>
    samplesOf(counts.commits, LATENCY_S),
  ),
  plant_store_waiting_writes: gauge('Writes queued for a transaction or in one', ({ queuedWrites }) => queuedWrites),
  plant_store_event_loop_delay_seconds: gauge(
    'Event loop delay since the last scrape, of the thread with the longest',
    ({ delaysS }) => DELAY_PERCENTILES.map((percent, at) => [`{percentile="${percent}"}`, delaysS[at] as number]),
  ),
  process_cpu_seconds_total: counter('CPU time of the process', cpuSeconds),
  process_resident_memory_bytes: gauge('Resident memory of the process', () => process.memoryUsage.rss()),
  process_start_time_seconds: gauge(
    'Start time of the process in seconds since 1970',
    () => Math.round(performance.timeOrigin) / 1000,
  ),
  plant_store_last_change: gauge('Sequence number of the newest change in the database', ({ stats }) => stats?.lastSeq),
  plant_store_database_bytes: gauge('Size of the database, for SQLite including the WAL', ({ stats }) => stats?.bytes),
  plant_store_wal_bytes: gauge('Size of the WAL of an SQLite database', ({ stats }) => stats?.walBytes),
  plant_store_last_backup_timestamp_seconds: gauge(
    'Time of the last complete backup, scheduled or by command, in seconds since 1970',
    ({ stats }) => (stats?.lastBackup ? stats.lastBackup.timeMs / 1000 : undefined),
  ),
  plant_store_last_backup_bytes: gauge('Size of the last complete backup', ({ stats }) => stats?.lastBackup?.bytes),
  plant_store_backups_total: counter('Scheduled backups of this process by result: written or failed', ({ counts }) =>
    Object.entries(counts.backups).map(([result, count]) => [`{result="${result}"}`, count]),
  ),
  plant_store_deliveries_total: counter(
    'Delivery attempts of this node by result: delivered, failed (a retry follows) or dead (no retry follows)',
    ({ counts }) => Object.entries(counts.deliveries).map(([result, count]) => [`{result="${result}"}`, count]),
  ),
  plant_store_oldest_waiting_delivery_seconds: gauge(
    'Age of the oldest change that is not delivered to every enabled webhook, or 0 if all are delivered',
    ({ webhooks }) => webhooks?.oldestWaitingS,
  ),
  plant_store_webhooks: gauge(
    'Webhooks in the database by status',
    ({ webhooks }) =>
      webhooks &&
      WEBHOOK_STATUSES.map((status) => [
        `{status="${status}"}`,
        webhooks.statuses.filter((own) => own === status).length,
      ]),
  ),
  process_open_fds: gauge('Number of open files and connections', ({ files }) => files?.open),
  process_max_fds: gauge('Maximum number of open files and connections', ({ files }) => files?.max),
};

/** Returns all metrics in the Prometheus text format. */
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

function labelsOf(route: string): string {
  const [method, path = ''] = route.split(' ');
  return `method="${method}",route="${path.replace(/:(\w+)/g, '{$1}')}"`;
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
