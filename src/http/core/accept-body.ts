// What becomes of the body of a request before its handler runs, and what it means for the requests behind it.

import type { BufferedRequest } from './buffered-request.ts';
import { hasLongBody, MAX_BODY_BYTES, type RequestBody, requireWanted } from './json-body.ts';
import type { HttpReply, HttpRequest } from './request-reply.ts';

/** Decides what becomes of the body. Throws where the route does not accept it. */
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

/** As Node sees it. */
function expectsContinue({ headers, httpVersion }: BufferedRequest): boolean {
  return headers.expect !== undefined && httpVersion === '1.1' && /(?:^|\W)100-continue(?:$|\W)/i.test(headers.expect);
}

/**
 * True if the next request could not be told from what is left of this one: a body that nobody will read, or that may or
 * may not come. (A client that was not told to continue may do so or not; Node closes then, also where no body can come.)
 */
export function isEndUnclear({ raw, isContinued }: HttpRequest): boolean {
  if (raw.headers.upgrade !== undefined) return true;
  if (expectsContinue(raw)) return !isContinued || !raw.complete;
  return !raw.complete && hasLongBody(raw.headers);
}
