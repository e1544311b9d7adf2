// Where spans go. A collector that is out of reach is told once, and once when it is back; what does not fit into the
// queue meanwhile is dropped.

import { ExportResultCode } from '@opentelemetry/core';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Observe } from '../service-events.ts';
import type { TracingOptions } from '../tracing.ts';

/** Loads only the one that is wanted. */
export async function createExporter(config: TracingOptions, observe: Observe): Promise<SpanExporter> {
  if (config.exporter === 'console') return new (await import('@opentelemetry/sdk-trace')).ConsoleSpanExporter();
  const { OTLPTraceExporter } = await (config.protocol === 'http/json'
    ? import('@opentelemetry/exporter-trace-otlp-http')
    : import('@opentelemetry/exporter-trace-otlp-proto'));
  return tellFailure(new OTLPTraceExporter(), observe);
}

function tellFailure(exporter: SpanExporter, observe: Observe): SpanExporter {
  let isFailing = false;
  return {
    export(spans, callback) {
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== ExportResultCode.SUCCESS;
        if (hasFailed && !isFailing) observe({ kind: 'traces_failing', reason: reasonOf(result.error) });
        if (!hasFailed && isFailing) observe({ kind: 'traces_recovered' });
        isFailing = hasFailed;
        callback(result);
      });
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

/** Of several addresses that were tried, an error has a code and no message. */
function reasonOf(error: (Error & { code?: unknown }) | undefined): string {
  return error ? error.message || String(error.code) : 'unknown';
}
