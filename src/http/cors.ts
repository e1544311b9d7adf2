// Pages of other origins, let in on purpose only: without CORS_ORIGINS nothing here says a word.

import type { Reply, Request } from './exchange.ts';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const REQUEST_HEADERS = 'Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID, X-Request-Id';
const EXPOSED = 'Link, ETag, Location, RateLimit, RateLimit-Policy, Retry-After, Idempotent-Replayed, X-Request-Id';
const REMEMBER_S = 600;

/** Tells the browser what its page may see. True when all it wanted to know was if it may ask. */
export type AnswerOrigin = (request: Request, reply: Reply) => boolean;

/** `*` among the origins is any. No cookies are used, so none are allowed. */
export function createCors(origins: string[]): AnswerOrigin {
  const isAny = origins.includes('*');

  return ({ method, headers }, reply) => {
    if (origins.length === 0) return false;
    if (!isAny) reply.header('vary', 'Origin');
    const { origin } = headers;
    if (origin === undefined || !(isAny || origins.includes(origin))) return false;
    reply.header('access-control-allow-origin', isAny ? '*' : origin);
    reply.header('access-control-expose-headers', EXPOSED);
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false;
    reply
      .header('access-control-allow-methods', METHODS)
      .header('access-control-allow-headers', REQUEST_HEADERS)
      .header('access-control-max-age', String(REMEMBER_S));
    return true;
  };
}
