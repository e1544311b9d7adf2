// Decides how the body of a request is read before its handler runs, and whether the connection can be reused.

import type { BufferedRequest } from './buffered-request.ts';
import { hasLongBody, MAX_BODY_BYTES, type RequestBody, requireWanted } from './json-body.ts';
import type { HttpReply, HttpRequest } from './request-reply.ts';

/** Drops, buffers or streams the body, as the route requires. Throws if the route does not accept it. */
export function acceptBody(body: RequestBody<unknown> | undefined, request: HttpRequest, reply: HttpReply): void {
  const { raw } = request;
  if (!body) {
    if (raw.hasBody) raw.dropBody();
    return;
  }
  requireWanted(request.headers, body);
  if (body.schema) raw.keepBody(MAX_BODY_BYTES);
  else raw.streamBody();
  if (!expectsContinue(raw)) return;
  request.isContinued = true;
  reply.raw.writeContinue();
}

/** True if the client waits for 100 Continue, by the same check as in Node. */
function expectsContinue({ headers, httpVersion }: BufferedRequest): boolean {
  return headers.expect !== undefined && httpVersion === '1.1' && /(?:^|\W)100-continue(?:$|\W)/i.test(headers.expect);
}

/**
 * True if the rest of this request cannot be distinguished from the next request: its body will not be read, or may not
 * arrive. A client that did not receive 100 Continue may or may not send its body. Node closes the connection in that
 * case, even if no body can arrive.
 */
export function isEndUnclear({ raw, isContinued }: HttpRequest): boolean {
  if (raw.headers.upgrade !== undefined) return true;
  if (expectsContinue(raw)) return !isContinued || !raw.complete;
  return !raw.complete && hasLongBody(raw.headers);
}
