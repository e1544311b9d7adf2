// Reports requests and their responses to the service log, the metrics and the traces.

import type { ServerResponse } from 'node:http';
import type { ErrorCode, PlantStoreError } from '../domain/errors.ts';
import { BadCredential, type RefusalReason } from '../domain/token.ts';
import { mayHoldSecret } from '../domain/token-secret.ts';
import { ABORTED, type Observe } from '../observability/service-events.ts';
import type { TracedRequest } from '../observability/tracing.ts';
import { connectionOf } from './core/connection.ts';
import type { HttpRequest } from './core/request-reply.ts';
import type { Route } from './core/route.ts';
import { decode, pathOf } from './core/router.ts';

const REASON_BY_CODE: Partial<Record<ErrorCode, RefusalReason>> = {
  no_credentials: 'no_credentials',
  scope_missing: 'scope',
  over_rate: 'rate',
  over_share: 'share',
};

/** Reports a response. `route` is undefined if no route matched the request. */
export function observeResponse(
  request: HttpRequest,
  response: ServerResponse,
  route: Route | undefined,
  observe: Observe,
  accessLog: boolean,
): void {
  const status = statusOf(request, response);
  const durationMs = request.ageMs();
  observe({ kind: 'response', route, status, durationMs });
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

/** Reports the error of a rejected request, if the credential or a limit is the reason. */
export function observeRefusal(error: PlantStoreError, { id, token }: HttpRequest, observe: Observe): void {
  if (error instanceof BadCredential) {
    observe({ kind: 'refused', reason: error.reason, requestId: id, why: error.why });
    return;
  }
  const reason = error.code === 'over_rate' && !token ? 'too_many_wrong' : REASON_BY_CODE[error.code];
  if (reason) observe({ kind: 'refused', reason, requestId: id, why: token?.id });
}

export function statusOf({ raw }: HttpRequest, response: ServerResponse): number {
  const isComplete = response.writableFinished || (response.headersSent && raw.complete);
  return isComplete ? response.statusCode : (connectionOf(raw.socket).refusedWith ?? ABORTED);
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

/** Returns the path without possible secrets: the query, a user name and password, or a misplaced token. */
function redactPath(url: string): string {
  const isElsewhere = !url.startsWith('/') || url.startsWith('//');
  if (isElsewhere && (url.includes('@') || mayHoldSecret(url))) return '…'; // a password can contain a slash
  const segments = pathOf(url).split('/');
  const first = segments.findIndex(isHidden);
  return first === -1 ? segments.join('/') : [...segments.slice(0, first), '…'].join('/'); // a secret can contain a slash
}

/** True if the segment may hold a secret or cannot be decoded. */
function isHidden(segment: string): boolean {
  const text = decode(segment);
  return text.includes('%') || mayHoldSecret(text); // also hides text that is encoded twice
}
