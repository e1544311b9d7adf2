// GET /status: what an operator's dashboard shows.

import { MAX_LIMIT } from '../../domain/page-size.ts';
import { type LimitsInForce, ServiceStatus } from '../../domain/service-status.ts';
import type { Store } from '../../domain/store.ts';
import { toIsoTime } from '../../lib/iso-time.ts';
import { printRate, type Rate } from '../../lib/token-bucket.ts';
import type { HourCount } from '../../observability/hourly-requests.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { MAX_QUEUED_WRITES } from '../../storage/queue-room.ts';
import { shareOf } from '../access/fair-share.ts';
import { WRONG } from '../access/rate-limit.ts';
import type { SharedLimits } from '../access/shared-limits.ts';
import { countConnections, MAX_CONNECTIONS, MAX_OF_ONE_ADDRESS } from '../core/connection-limits.ts';
import { MAX_BODY_BYTES } from '../core/json-body.ts';
import { MAX_HEADER_BYTES } from '../core/raw-refusal.ts';
import { MAX_IN_PROGRESS } from '../core/request-order.ts';
import { NO_STORE, type Route, route } from '../core/route.ts';
import { MAX_EXPORTS, MAX_IMPORTS } from './import-export.ts';

/** Facts about the service that do not change while it runs. */
export interface ServiceFacts {
  version: string;
  startedMs: number;
  database: { kind: 'sqlite' } | { kind: 'postgres'; poolSize: number };
  /** Rate of each JWT subject. Null or undefined without a limit. */
  jwtRate: Rate | null | undefined;
}

interface StatusOptions {
  store: Store;
  metrics: Metrics;
  facts: ServiceFacts;
  limits: SharedLimits;
  clock: () => number;
}

export function statusRoute(readStatus: ReadStatus): Route {
  return route('GET /status', 'getStatus', 'admin', {
    summary: 'Get the status of the service',
    description:
      'Returns what a dashboard shows: version, database, counts, pending deliveries, traffic, the last backup and the limits in force. ' +
      'With several nodes on PostgreSQL, `started`, `refused`, `hours` and `connections` are those of the node that responds.',
    response: { description: 'The status', schema: ServiceStatus, headers: NO_STORE },
    handle: readStatus,
  });
}

export type ReadStatus = () => Promise<ServiceStatus>;

/** Returns a function that reads the status. */
export function createStatusReader(options: StatusOptions): ReadStatus {
  const { store, metrics, limits, facts, clock } = options;
  return async () => {
    const [{ refused, hours }, stats, { plants }, pending, oldestMs] = await Promise.all([
      metrics.traffic(),
      store.stats(),
      store.count(),
      store.countPendingDeliveries(),
      store.oldestWaitingMs(),
    ]);
    const { lastBackup } = stats;
    return {
      version: facts.version,
      started: toIsoTime(facts.startedMs),
      database: { kind: facts.database.kind, bytes: stats.bytes, schemaVersion: stats.schemaVersion },
      plants,
      lastChange: stats.lastSeq,
      deliveries: { pending, ...(oldestMs !== undefined && { oldest: toIsoTime(oldestMs) }) },
      refused,
      hours: hours.map(describeHour),
      ...(lastBackup && { lastBackup: describeBackup(lastBackup, clock()) }),
      connections: { open: countConnections(limits.counts) },
      limits: limitsInForce(facts),
    };
  };
}

function describeHour({ startMs, requests, p99Ms }: HourCount): ServiceStatus['hours'][number] {
  return { hour: toIsoTime(startMs), requests, ...(p99Ms !== undefined && { p99Milliseconds: p99Ms }) };
}

function describeBackup({ timeMs, bytes }: { timeMs: number; bytes: number }, nowMs: number) {
  return { time: toIsoTime(timeMs), ageSeconds: Math.max(0, Math.floor((nowMs - timeMs) / 1000)), bytes };
}

/** Returns the limits, each from the constant or setting that enforces it. */
function limitsInForce({ database, jwtRate }: ServiceFacts): LimitsInForce {
  return {
    bodyBytes: MAX_BODY_BYTES,
    headerBytes: MAX_HEADER_BYTES,
    pageSize: MAX_LIMIT,
    connections: MAX_CONNECTIONS,
    connectionsPerAddress: MAX_OF_ONE_ADDRESS,
    requestsPerConnection: MAX_IN_PROGRESS,
    queuedWrites: MAX_QUEUED_WRITES,
    imports: MAX_IMPORTS,
    importsPerToken: shareOf(MAX_IMPORTS),
    exports: MAX_EXPORTS,
    exportsPerToken: shareOf(MAX_EXPORTS),
    invalidTokensPerAddress: WRONG.count,
    invalidTokensPerSecond: (WRONG.count * 1000) / WRONG.periodMs,
    ...(jwtRate && { jwtRate: printRate(jwtRate) }),
    ...(database.kind === 'postgres' && { databaseConnections: database.poolSize }),
  };
}
