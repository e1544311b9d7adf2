// Creates a span for each request, following the semantic conventions for HTTP. A span holds method, path and request
// id of the client, but never secrets.

import type { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Context,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { ABORTED } from '../service-events.ts';
import type { TracedRequest, Tracing } from '../tracing.ts';

/** The tracer, and the request in progress of the current asynchronous context. */
export interface Scope {
  tracer: Tracer;
  current: AsyncLocalStorage<RequestInProgress>;
}

interface RequestInProgress {
  /** Holds the span of the request. */
  context: Context;
  /** True after the response. Background work that the request started is not part of the request. */
  isOver: boolean;
}

/** Methods that the conventions define. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY'];

/** Returns the function that traces requests. */
export function createRequestSpans({ tracer, current }: Scope, takesParent: boolean): Tracing['traceRequest'] {
  const propagator = new W3CTraceContextPropagator();

  return (seen, work) => {
    const { headers, method, route } = seen;
    const { traceparent } = headers; // tracestate can hold any text, which the exporter would forward
    const parent = takesParent ? propagator.extract(ROOT_CONTEXT, { traceparent }, defaultTextMapGetter) : ROOT_CONTEXT;
    const known = METHODS.includes(method) ? method : 'HTTP';
    const name = route === undefined ? known : `${known} ${route}`;
    const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes: toAttributes(seen) }, parent);
    if (!span.isRecording()) {
      work(); // no sampler samples the inner spans of an unsampled request
      return doNothing;
    }
    const request = { context: trace.setSpan(parent, span), isOver: false };
    current.run(request, work);

    return (status) => {
      request.isOver = true;
      if (status === ABORTED) span.setAttribute('error.type', 'aborted');
      else span.setAttribute('http.response.status_code', status);
      if (status >= 500) span.setAttribute('error.type', String(status)).setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    };
  };
}

function doNothing(): void {}

function toAttributes({ id, method, route, path, scheme, address, port }: TracedRequest): Attributes {
  return {
    'http.request.method': METHODS.includes(method) ? method : '_OTHER',
    ...(!METHODS.includes(method) && { 'http.request.method_original': method }),
    ...(route !== undefined && { 'http.route': route }),
    'url.path': path,
    'url.scheme': scheme,
    ...(address !== undefined && { 'server.address': address }),
    ...(port !== undefined && { 'server.port': port }),
    'plant_store.request.id': id,
  };
}
