// Service events → figures, in the text format of Prometheus. Labels are bounded: no ids, no paths but those of the routes.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { WEBHOOK_STATUSES } from '../domain/names.ts';
import type { Store } from '../domain/store.ts';
import { describeWebhook } from '../domain/webhook.ts';
import { countOpenFiles } from '../lib/open-files.ts';
import { createBugReport, isUnavailable } from './bug-report.ts';
import { createHistogram, type Histogram } from './histogram.ts';
import { DENIAL_REASONS, type Observe, type ServiceEvent } from './service-events.ts';

const LATENCY_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const BATCH_WRITES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 8192];
const EVENT_LOOP_RESOLUTION_MS = 20;

export interface Metrics {
  observe: Observe;
  contentType: string;
  print(): Promise<string>;
}

interface Metric {
  name: string;
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
  /** By what follows the name: `{result="dead"}`, or nothing. */
  values: [suffix: string, value: number][];
}

type RouteName = { method: string; path: string } | undefined;

interface RouteFigures {
  byStatus: Map<number, number>;
  latency: Histogram;
}

export function createMetrics(store: Store, observe: Observe = () => {}, clock: () => number = Date.now): Metrics {
  const reportBug = createBugReport(observe);
  const routes = new Map<RouteName, RouteFigures>();
  const refused = new Map(DENIAL_REASONS.map((reason) => [reason, 0]));
  const deliveries = { delivered: 0, failed: 0, dead: 0 };
  let bugs = 0; // told from the start, so that the first one is a rise
  const batches = createHistogram(BATCH_WRITES);
  const commits = createHistogram(LATENCY_S);
  const eventLoop = monitorEventLoopDelay({ resolution: EVENT_LOOP_RESOLUTION_MS });
  eventLoop.enable();

  return {
    observe(event: ServiceEvent) {
      switch (event.kind) {
        case 'answer': {
          const figures = figuresOf(event.route);
          figures.byStatus.set(event.status, (figures.byStatus.get(event.status) ?? 0) + 1);
          figures.latency.add(event.durationMs / 1000);
          return;
        }
        case 'commit':
          batches.add(event.writes);
          commits.add(event.durationMs / 1000);
          return;
        case 'refused':
          refused.set(event.reason, (refused.get(event.reason) ?? 0) + 1);
          return;
        case 'delivery':
          deliveries[event.result]++;
          return;
        case 'bug':
          bugs++;
      }
    },
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    async print() {
      const slow = await Promise.all([ofStore(), ofWebhooks(), ofFiles()]);
      const metrics = [...ofRequests(), ...ofWrites(), ...ofProcess(eventLoop), ...slow.flat()];
      eventLoop.reset();
      return metrics.map(toText).join('');
    },
  };

  function figuresOf(route: RouteName): RouteFigures {
    let figures = routes.get(route);
    if (!figures) {
      figures = { byStatus: new Map(), latency: createHistogram(LATENCY_S) };
      routes.set(route, figures);
    }
    return figures;
  }

  function ofRequests(): Metric[] {
    const all = [...routes].map(([route, figures]) => [labelsOf(route), figures] as const);
    return [
      {
        name: 'plant_store_requests_total',
        type: 'counter',
        help: 'Requests by route (empty where none takes them) and status (499 where the client went away before an answer)',
        values: all.flatMap(([labels, { byStatus }]) =>
          [...byStatus].map(([status, count]): [string, number] => [`{${labels},status="${status}"}`, count]),
        ),
      },
      {
        name: 'plant_store_request_duration_seconds',
        type: 'histogram',
        help: 'Time from the end of the headers to the last byte of the answer; of a stream, until it ends',
        values: all.flatMap(([labels, { latency }]) => latency.values(labels)),
      },
      {
        name: 'plant_store_refused_total',
        type: 'counter',
        help: 'Requests that were not let in, by reason',
        values: [...refused].map(([reason, count]) => [`{reason="${reason}"}`, count]),
      },
      {
        name: 'plant_store_bugs_total',
        type: 'counter',
        help: 'What went wrong in the code: the log has the cause',
        values: [['', bugs]],
      },
    ];
  }

  function ofWrites(): Metric[] {
    return [
      {
        name: 'plant_store_batch_writes',
        type: 'histogram',
        help: 'Writes that shared a transaction',
        values: batches.values(),
      },
      {
        name: 'plant_store_commit_duration_seconds',
        type: 'histogram',
        help: 'Time of a transaction of writes, with its commit',
        values: commits.values(),
      },
      {
        name: 'plant_store_waiting_writes',
        type: 'gauge',
        help: 'Writes that wait for a transaction',
        values: [['', store.queuedWrites()]],
      },
    ];
  }

  /** This and the next give nothing of the database while it is out of reach: the others are wanted then most of all. */
  async function ofStore(): Promise<Metric[]> {
    const known = await store.stats().catch(withoutThem);
    if (!known) return [];
    return [
      {
        name: 'plant_store_last_change',
        type: 'gauge',
        help: 'Number of the newest change of this database',
        values: [['', known.lastSeq]],
      },
      {
        name: 'plant_store_database_bytes',
        type: 'gauge',
        help: 'Room that this database takes; of SQLite with its log',
        values: [['', known.bytes]],
      },
    ];
  }

  function withoutThem(error: unknown): undefined {
    if (!isUnavailable(error)) reportBug(error);
  }

  async function ofWebhooks(): Promise<Metric[]> {
    const attempts: Metric = {
      name: 'plant_store_deliveries_total',
      type: 'counter',
      help: 'Attempts of this node to deliver a change to a webhook: delivered, failed (to be tried again), dead (given up)',
      values: Object.entries(deliveries).map(([result, count]) => [`{result="${result}"}`, count]),
    };
    const known = await Promise.all([store.oldestWaitingMs(), store.listWebhooks()]).catch(withoutThem);
    if (!known) return [attempts];
    const [oldestMs, webhooks] = known;
    const statuses = webhooks.map((webhook) => describeWebhook(webhook, clock()).status);
    return [
      attempts,
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
  }
}

function ofProcess(eventLoop: ReturnType<typeof monitorEventLoopDelay>): Metric[] {
  const { user, system } = process.cpuUsage();
  const quantiles: [string, number][] = [50, 99, 100].map((percent) => [
    `{quantile="${percent / 100}"}`,
    Math.max(0, (eventLoop.count > 0 ? eventLoop.percentile(percent) / 1e9 : 0) - EVENT_LOOP_RESOLUTION_MS / 1000),
  ]);
  return [
    {
      name: 'plant_store_event_loop_delay_seconds',
      type: 'gauge',
      help: 'How late the event loop was since these figures were last asked for',
      values: quantiles,
    },
    {
      name: 'process_cpu_seconds_total',
      type: 'counter',
      help: 'Processor time of the process',
      values: [['', (user + system) / 1e6]],
    },
    {
      name: 'process_resident_memory_bytes',
      type: 'gauge',
      help: 'Memory of the process',
      values: [['', process.memoryUsage.rss()]],
    },
    {
      name: 'process_start_time_seconds',
      type: 'gauge',
      help: 'When the process started, in seconds since 1970',
      values: [['', Math.round(performance.timeOrigin) / 1000]],
    },
  ];
}

async function ofFiles(): Promise<Metric[]> {
  const files = await countOpenFiles();
  if (!files) return [];
  const help = { open: 'Files and connections that are open', max: 'So many files and connections may be open' };
  return (['open', 'max'] as const).flatMap((name): Metric[] => {
    const value = files[name];
    if (value === undefined) return [];
    return [{ name: `process_${name}_fds`, type: 'gauge', help: help[name], values: [['', value]] }];
  });
}

function labelsOf(route: RouteName): string {
  return `method="${route?.method ?? ''}",route="${route?.path.replace(/:(\w+)/g, '{$1}') ?? ''}"`;
}

function toText({ name, type, help, values }: Metric): string {
  const lines = values.map(([suffix, value]) => `${name}${suffix} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}
