// Pages of other origins, let in on purpose only: without CORS_ORIGINS no answer says a word of them.

import { isIP } from 'node:net';
import { PlantStoreError } from '../../domain/errors.ts';
import type { HttpReply, HttpRequest } from './request-reply.ts';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const REQUEST_HEADERS =
  'Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID, X-Request-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name';
const EXPOSED = 'Link, ETag, Location, RateLimit, RateLimit-Policy, Retry-After, Idempotent-Replayed, X-Request-Id';
const REMEMBER_S = 600;

/** Tells the browser what its page may see. True when all it wanted to know was if it may ask. */
export type AnswerOrigin = (request: HttpRequest, reply: HttpReply) => boolean;

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

/**
 * For what must not be asked by a page, whatever credential it has. A page of our own origin is let in where that is an
 * address or localhost: a name may be the page's, led to us by its own DNS. Throws `origin_refused`.
 */
export function requireOrigin({ headers: { origin, host = '' } }: HttpRequest, origins: string[]): void {
  if (origin === undefined || origins.includes('*') || origins.includes(origin)) return;
  const isOwn = origin === `http://${host}` || origin === `https://${host}`;
  if (isOwn && URL.canParse(origin) && isFixed(new URL(origin).hostname)) return;
  throw new PlantStoreError('origin_refused', 'Pages of this origin may not speak MCP: name it in CORS_ORIGINS');
}

function isFixed(hostname: string): boolean {
  return hostname === 'localhost' || isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0;
}
