// What the log, the metrics and a trace are told of a request and its response.

import type { ServerResponse } from 'node:http';
import { CLIENT_CLOSED_REQUEST, type Observe } from '../observability/service-events.ts';
import type { TracedRequest } from '../observability/tracing.ts';
import { connectionOf } from './core/connection.ts';
import { redactPath } from './core/redact-path.ts';
import type { HttpReply, HttpRequest } from './core/request-reply.ts';
import type { Route } from './core/route.ts';

/** A request, its response, and the route; undefined where no route has the path and method. */
export interface Exchange {
  request: HttpRequest;
  reply: HttpReply;
  route: Route | undefined;
}

export function observeResponse({ request, reply, route }: Exchange, observe: Observe, accessLog: boolean): void {
  const status = statusOf(request, reply.raw);
  const durationMs = request.ageMs();
  observe({ kind: 'answer', route, status, durationMs });
  if (!accessLog) return;
  observe({
    kind: 'request',
    requestId: request.id,
    method: request.method,
    path: redactPath(request.url),
    status,
    durationMs: Math.round(durationMs * 1000) / 1000,
    tokenId: request.token?.id,
    address: request.address,
  });
}

export function statusOf({ raw }: HttpRequest, response: ServerResponse): number {
  const isAnswered = response.writableFinished || (response.headersSent && raw.complete);
  return isAnswered ? response.statusCode : (connectionOf(raw.socket).refusedWith ?? CLIENT_CLOSED_REQUEST);
}

export function toTracedRequest(
  { id, method, url, headers, raw: { socket } }: HttpRequest,
  route: string | undefined,
  scheme: TracedRequest['scheme'],
): TracedRequest {
  return {
    id,
    method,
    route,
    path: url === route ? url : redactPath(url),
    scheme,
    address: socket.localAddress,
    port: socket.localPort,
    headers,
  };
}
