// A span for each attempt to deliver a change, linked to the request that made the change.

import { ROOT_CONTEXT, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { Observe } from '../service-events.ts';
import type { Origins } from './origins.ts';
import type { Scope } from './scope.ts';

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
