// Starts tracing with OpenTelemetry. This file is loaded only if tracing is on. It registers nothing globally and
// patches no module.

import { AsyncLocalStorage } from 'node:async_hooks';
import { ExportResultCode } from '@opentelemetry/core';
import {
  defaultResource,
  detectResources,
  type Resource,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { withDeadline } from '../../lib/deadline.ts';
import type { Observe } from '../service-events.ts';
import type { TracedChange, Tracing, TracingOptions } from '../tracing.ts';
import { createDeliverySpans, createOrigins } from './delivery-spans.ts';
import { createRequestSpans, type Scope } from './request-spans.ts';
import { traceStore } from './store-spans.ts';

/** Maximum length of an attribute. A path can have 16 KiB, and thousands of spans can be queued. */
const MAX_VALUE_CHARS = 1024;
/** Maximum time for sending the last spans. */
const LAST_SPANS_MS = 2000;

interface StartTracingOptions {
  config: TracingOptions;
  database: 'sqlite' | 'postgres';
  version: string;
  /** Id of this node. */
  node: string;
  observe: Observe;
  /** Receives the changes that requests of this thread make, if another thread delivers them. */
  onChange?: ((change: TracedChange) => void) | undefined;
}

/** Starts tracing. */
export async function startTracing(options: StartTracingOptions): Promise<Tracing> {
  const { config, database, version, node, observe, onChange } = options;
  const exporters = await Promise.all(config.exporters.map((name) => createExporter(name, config, observe)));
  const provider = new TracerProvider({
    resource: describeService(version, node),
    sampler: samplerOf(config),
    spanLimits: { attributeValueLengthLimit: MAX_VALUE_CHARS },
    spanProcessors: exporters.map((exporter) => new BatchSpanProcessor({ exporter, ...config.batch })),
  });
  const scope: Scope = { tracer: provider.getTracer('plant-store', version), current: new AsyncLocalStorage() };
  const origins = createOrigins();
  const sendRest = () => provider.shutdown().catch(() => {}); // the exporter has reported the error
  const noteChange = onChange ?? origins.note;

  return {
    observe: createDeliverySpans(scope, origins),
    traceRequest: createRequestSpans(scope, config.takesParent),
    traceStore: (store) => traceStore(store, database === 'postgres' ? 'postgresql' : 'sqlite', scope, noteChange),
    noteChange: origins.note,
    async stop() {
      await withDeadline(sendRest(), LAST_SPANS_MS, () => {});
    },
  };
}

/** Returns the resource attributes. Values from the environment take precedence. */
function describeService(version: string, node: string): Resource {
  const own = { 'service.name': 'plant-store', 'service.version': version, 'service.instance.id': node };
  const given = detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] });
  return defaultResource().merge(resourceFromAttributes(own)).merge(given);
}

function samplerOf({ sampler, ratio }: TracingOptions): Sampler {
  const name = sampler.replace(/^parentbased_/, '');
  const root =
    name === 'always_on'
      ? new AlwaysOnSampler()
      : name === 'always_off'
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(ratio);
  return name === sampler ? root : new ParentBasedSampler({ root });
}

/** Loads and returns only this exporter. */
async function createExporter(
  name: TracingOptions['exporters'][number],
  { protocol, compression, timeoutMs }: TracingOptions,
  observe: Observe,
): Promise<SpanExporter> {
  if (name === 'console') return new (await import('@opentelemetry/sdk-trace')).ConsoleSpanExporter();
  const { OTLPTraceExporter } = await (protocol === 'http/json'
    ? import('@opentelemetry/exporter-trace-otlp-http')
    : import('@opentelemetry/exporter-trace-otlp-proto'));
  // The exporter reads the other variables itself. It would accept values that the configuration ignores.
  const options = { compression, timeoutMillis: timeoutMs } as ConstructorParameters<typeof OTLPTraceExporter>[0];
  return reportResults(new OTLPTraceExporter(options), observe);
}

/** Reports whether the collector has received the spans. */
function reportResults(exporter: SpanExporter, observe: Observe): SpanExporter {
  return {
    export(spans, callback) {
      exporter.export(spans, (result) => {
        if (result.code === ExportResultCode.SUCCESS) observe({ kind: 'traces_recovered' });
        else observe({ kind: 'traces_failing', reason: reasonOf(result.error) });
        callback(result);
      });
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

/** Returns the reason of a failure. If several addresses were tried, the error has a code but no message. */
function reasonOf(error: (Error & { code?: unknown }) | undefined): string {
  return error ? error.message || String(error.code) : 'unknown';
}
