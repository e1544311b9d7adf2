// Traces by OpenTelemetry. Loaded only when they are on; nothing is registered globally and no module is patched.

import { AsyncLocalStorage } from 'node:async_hooks';
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
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { withDeadline } from '../../lib/deadline.ts';
import type { Observe } from '../service-events.ts';
import type { Tracing, TracingOptions } from '../tracing.ts';
import { createDeliverySpans, createOrigins } from './delivery-spans.ts';
import { createExporter } from './exporter.ts';
import { createRequestSpans, type Scope } from './request-spans.ts';
import { traceStore } from './store-spans.ts';

/** A path may have 16 KiB, and thousands of spans may wait. */
const MAX_VALUE_CHARS = 1024;
const LAST_SPANS_MS = 2000;

interface StartTracingOptions {
  config: TracingOptions;
  database: 'sqlite' | 'postgres';
  version: string;
  /** Names this process among others. */
  node: string;
  observe: Observe;
}

export async function startTracing(options: StartTracingOptions): Promise<Tracing> {
  const { config, database, version, node, observe } = options;
  const exporter = await createExporter(config, observe);
  const provider = new TracerProvider({
    resource: describeService(version, node),
    sampler: samplerOf(config),
    spanLimits: { attributeValueLengthLimit: MAX_VALUE_CHARS },
    spanProcessors: [new BatchSpanProcessor({ exporter, ...config.batch })],
  });
  const scope: Scope = { tracer: provider.getTracer('plant-store', version), current: new AsyncLocalStorage() };
  const origins = createOrigins();

  return {
    observe: createDeliverySpans(scope, origins),
    traceRequest: createRequestSpans(scope, config.takesParent),
    traceStore: (store) => traceStore(store, database === 'postgres' ? 'postgresql' : 'sqlite', scope, origins),
    async stop() {
      const sent = provider.shutdown().catch(() => {}); // the exporter has told it
      await withDeadline(sent, LAST_SPANS_MS, () => {});
    },
  };
}

/** What the environment says counts more. */
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
