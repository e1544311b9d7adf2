// All routes there are. One that does not say who may call it is refused at the start.

import { SCOPES } from '../../domain/names.ts';
import type { Store } from '../../domain/store.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Observe } from '../../observability/service-events.ts';
import type { Route } from '../core/route.ts';
import type { Timeouts } from '../core/timeouts.ts';
import { consolePageRoutes } from './console-pages.ts';
import { eventRoutes } from './events.ts';
import { healthMetricsRoutes } from './health-metrics.ts';
import { importExportRoutes } from './import-export.ts';
import { type LoadMcp, mcpRoute } from './mcp.ts';
import { openapiRoute } from './openapi.ts';
import { plantRoutes } from './plants.ts';
import { tokenRoutes } from './tokens.ts';
import { type WebhookTools, webhookRoutes } from './webhooks.ts';

export interface RouteOptions {
  store: Store;
  basePath: string;
  metrics: Metrics;
  webhooks: WebhookTools;
  observe: Observe;
  /** Origins whose pages may call the service; `*` is any. */
  corsOrigins: string[];
  /** Called at the first MCP message. */
  loadMcp: LoadMcp;
  /** When it aborts, streams end. */
  stopping: AbortSignal;
  timeouts: Timeouts;
  clock: () => number;
}

export function createAllRoutes(options: RouteOptions): Route[] {
  const { store, basePath, metrics, webhooks, stopping, timeouts, clock } = options;
  const { loadMcp, corsOrigins, observe } = options;
  const described = [
    ...plantRoutes(store, basePath, stopping),
    ...importExportRoutes(store, stopping, timeouts),
    ...eventRoutes(store, stopping, timeouts),
    ...tokenRoutes(store, basePath, clock),
    ...webhookRoutes(store, basePath, webhooks, clock),
    ...healthMetricsRoutes(store, metrics, stopping),
  ];
  return [
    ...described,
    openapiRoute(described, basePath),
    mcpRoute(loadMcp, corsOrigins, observe),
    ...consolePageRoutes(basePath),
  ];
}

const ACCESSES: unknown[] = [...SCOPES, 'any', 'open'];

/** Types are gone when it runs: this is what holds. */
export function requireAccess({ method, path, access }: Route): void {
  const isList = Array.isArray(access) && access.length > 0;
  if (isList ? !access.every((scope) => SCOPES.includes(scope)) : !ACCESSES.includes(access)) {
    throw new Error(`${method} ${path} does not say who may call it: its access is "${access}"`);
  }
}
