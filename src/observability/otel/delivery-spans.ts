// Creates a span for each delivery attempt, linked to the request that made the change.

import { ROOT_CONTEXT, type SpanContext, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { Observe } from '../service-events.ts';
import type { TracedChange } from '../tracing.ts';
import type { Scope } from './request-spans.ts';

const MAX_ORIGINS = 4096;

/** Spans of the requests that made the newest changes. */
export type Origins = ReturnType<typeof createOrigins>;

/**
 * Returns storage for the spans of the newest 4,096 changes. A delivery much later, or by another node, has no link.
 */
export function createOrigins() {
  const bySeq = new Map<number, SpanContext>();
  return {
    /** Stores the span of the request that made a change. */
    note({ seq, span }: TracedChange): void {
      if (bySeq.has(seq)) return;
      bySeq.set(seq, span);
      const [oldest] = bySeq.keys();
      if (oldest !== undefined && bySeq.size > MAX_ORIGINS) bySeq.delete(oldest);
    },
    find: (seq: number) => bySeq.get(seq),
  };
}

/** Returns an observer that creates spans from delivery events. */
export function createDeliverySpans({ tracer }: Scope, origins: Origins): Observe {
  return (event) => {
    if (event.kind !== 'delivery') return;
    const { webhookId, seq, attempt, result, code, durationMs } = event;
    const endMs = Date.now();
    const origin = origins.find(seq);
    const attributes = {
      'http.request.method': 'POST',
      ...(code !== undefined && { 'http.response.status_code': code }),
      'plant_store.webhook.id': webhookId,
      'plant_store.webhook.attempt': attempt,
      'plant_store.webhook.result': result,
      'plant_store.change.seq': seq,
      ...(result !== 'delivered' && { 'error.type': code === undefined ? 'no_answer' : String(code) }),
    };
    const options = {
      kind: SpanKind.CLIENT,
      startTime: endMs - durationMs,
      links: origin ? [{ context: origin }] : [],
      attributes,
    };
    const span = tracer.startSpan('webhook.deliver', options, ROOT_CONTEXT);
    if (result !== 'delivered') span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(endMs);
  };
}
