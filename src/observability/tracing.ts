// What the service asks of traces, when they are on. When they are off, nobody has one of these and nothing is called.

import type { IncomingHttpHeaders } from 'node:http';
import type { Store } from '../domain/store.ts';
import type { Observe } from './service-events.ts';

export interface TracedRequest {
  id: string;
  method: string;
  /** Not there where none takes it. */
  route: string | undefined;
  /** Without a query, and without what may be a secret. */
  path: string;
  scheme: 'http' | 'https';
  /** Where it has reached us. */
  address: string | undefined;
  port: number | undefined;
  headers: IncomingHttpHeaders;
}

export interface Tracing {
  /** Events that make a span of their own. */
  observe: Observe;
  /** Does the work within a span, and gives what ends it with the status of the answer. */
  traceRequest(seen: TracedRequest, work: () => void): (status: number) => void;
  /** The same store: what is asked of it within a request is a span there. */
  traceStore(store: Store): Store;
  /** Sends what is left, within a bounded time. */
  stop(): Promise<void>;
}

/** What OpenTelemetry's variables say about traces. */
export interface TracingOptions {
  exporter: 'otlp' | 'console';
  protocol: 'http/protobuf' | 'http/json';
  sampler: `${'' | 'parentbased_'}${'always_on' | 'always_off' | 'traceidratio'}`;
  /** Share of the traces, for a sampler that takes one. */
  ratio: number;
  /** The header `traceparent` counts. */
  takesParent: boolean;
  /** Named as the batch processor of OpenTelemetry takes them. */
  batch: Record<'scheduledDelayMillis' | 'exportTimeoutMillis' | 'maxQueueSize' | 'maxExportBatchSize', number>;
}
