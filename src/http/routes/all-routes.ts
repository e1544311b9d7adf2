// Collects all routes, and checks at the start that each one declares its access.

import { SCOPES } from '../../domain/names.ts';
import type { Store } from '../../domain/store.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Observe } from '../../observability/service-events.ts';
import type { WebhookTools } from '../../webhooks/webhook-operations.ts';
import type { SharedLimits } from '../access/shared-limits.ts';
import type { Route } from '../core/route.ts';
import type { ServerUrlOf } from '../core/server-url.ts';
import type { Timeouts } from '../core/timeouts.ts';
import { type ReadSummary, unlessStopping } from './cached-summary.ts';
import { consolePageRoutes } from './console-pages.ts';
import { eventRoutes } from './events.ts';
import { healthMetricsRoutes } from './health-metrics.ts';
import { importExportRoutes } from './import-export.ts';
import { type LoadMcp, mcpRoute } from './mcp.ts';
import { openapiRoute } from './openapi.ts';
import { plantRoutes } from './plants.ts';
import { createStatusReader, type ServiceFacts, statusRoute } from './status.ts';
import { tokenRoutes } from './tokens.ts';
import { webhookRoutes } from './webhooks.ts';

export interface RouteOptions {
  store: Store;
  basePath: string;
  metrics: Metrics;
  limits: SharedLimits;
  /** Returns the summary that all threads share. */
  readSummary: ReadSummary;
  facts: ServiceFacts;
  webhooks: WebhookTools;
  observe: Observe;
  /** Origins whose pages may call the service. `*` allows any origin. */
  corsOrigins: string[];
  /** Called at the first MCP message. */
  loadMcp: LoadMcp;
  /** Aborts when the service stops, which ends all streams. */
  stopping: AbortSignal;
  timeouts: Timeouts;
  clock: () => number;
}

export function createAllRoutes(options: RouteOptions, serverUrlOf: ServerUrlOf): Route[] {
  const { store, basePath, metrics, limits, webhooks, stopping, timeouts, clock } = options;
  const { loadMcp, corsOrigins, observe, facts } = options;
  const readSummary = unlessStopping(options.readSummary, stopping);
  const readStatus = createStatusReader({ store, metrics, limits, facts, clock });
  const described = [
    ...plantRoutes(store, basePath, readSummary),
    ...importExportRoutes(store, limits, stopping, timeouts),
    ...eventRoutes(store, basePath, stopping, timeouts, clock),
    ...tokenRoutes(store, basePath, clock),
    ...webhookRoutes(store, basePath, webhooks, limits, clock),
    ...healthMetricsRoutes(store, metrics, stopping),
    statusRoute(readStatus),
  ];
  return [
    ...described,
    openapiRoute(described, serverUrlOf),
    mcpRoute(() => loadMcp({ readSummary, readStatus }), corsOrigins, observe),
    ...consolePageRoutes(basePath),
  ];
}

const ACCESSES: unknown[] = [...SCOPES, 'any', 'open'];

/** Throws if a route does not declare its access. Types alone do not protect at run time. */
export function requireAccess({ method, path, access }: Route): void {
  const isList = Array.isArray(access) && access.length > 0;
  if (isList ? !access.every((scope) => SCOPES.includes(scope)) : !ACCESSES.includes(access)) {
    throw new Error(`${method} ${path} does not declare a valid access: "${access}"`);
  }
}
