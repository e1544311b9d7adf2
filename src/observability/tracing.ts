// Defines the interface of tracing. If tracing is off, no instance exists and nothing is called.

import type { IncomingHttpHeaders } from 'node:http';
import type { Store } from '../domain/store.ts';
import type { Observe } from './service-events.ts';

/** The attributes of a request that are traced. */
export interface TracedRequest {
  id: string;
  method: string;
  /** Undefined if no route matches. */
  route: string | undefined;
  /** Path without the query and without possible secrets. */
  path: string;
  scheme: 'http' | 'https';
  /** Local address that received the request. */
  address: string | undefined;
  port: number | undefined;
  headers: IncomingHttpHeaders;
}

/** A change, and the span of the request that made it. */
export interface TracedChange {
  seq: number;
  span: { traceId: string; spanId: string; traceFlags: number };
}

/** Creates and sends spans. */
export interface Tracing {
  /** Creates spans from events. */
  observe: Observe;
  /** Runs `work` within a span. Returns a function that ends the span with the status of the response. */
  traceRequest(seen: TracedRequest, work: () => void): (status: number) => void;
  /** Links later deliveries of the change to a span of another thread. */
  noteChange(change: TracedChange): void;
  /** Returns the store with a span for each call within a request. */
  traceStore(store: Store): Store;
  /** Sends the remaining spans, for at most 2 s. */
  stop(): Promise<void>;
}

/** Tracing options from the environment variables of OpenTelemetry. */
export interface TracingOptions {
  exporters: ('otlp' | 'console')[];
  protocol: 'http/protobuf' | 'http/json';
  compression: 'gzip' | 'none';
  /** Timeout of one export by OTLP. */
  timeoutMs: number;
  sampler: `${'' | 'parentbased_'}${'always_on' | 'always_off' | 'traceidratio'}`;
  /** Fraction of traces to sample, for a ratio sampler. */
  ratio: number;
  /** True if the header `traceparent` is used. */
  takesParent: boolean;
  /** Options of OpenTelemetry's batch processor. */
  batch: Record<'scheduledDelayMillis' | 'exportTimeoutMillis' | 'maxQueueSize' | 'maxExportBatchSize', number>;
}
