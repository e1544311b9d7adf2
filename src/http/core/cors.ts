// Cross-origin requests (CORS). Without CORS_ORIGINS, no response has a CORS header.

import { isIP } from 'node:net';
import { PlantStoreError } from '../../domain/errors.ts';
import type { HttpReply, HttpRequest } from './request-reply.ts';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const REQUEST_HEADERS =
  'Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID, X-Request-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name';
const EXPOSED =
  'Link, ETag, Location, Total-Count, Last-Seq, RateLimit, RateLimit-Policy, Retry-After, Idempotent-Replayed, X-Request-Id';
const PREFLIGHT_CACHE_S = 600;

/** Sets the CORS headers of a response. Returns true for a preflight request. */
export type HandleOrigin = (request: HttpRequest, reply: HttpReply) => boolean;

/** Creates the CORS handler. `*` allows any origin. The service uses no cookies, so it does not allow them. */
export function createCors(origins: string[]): HandleOrigin {
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
      .header('access-control-max-age', String(PREFLIGHT_CACHE_S));
    return true;
  };
}

/**
 * Rejects requests from pages of other origins, with any credential. Throws `origin_refused`. It accepts the service's
 * own origin only if the host is an IP address or localhost: an attacker's DNS can point any other name to the service.
 */
export function requireOrigin({ headers: { origin, host = '' } }: HttpRequest, origins: string[]): void {
  if (origin === undefined || origins.includes('*') || origins.includes(origin)) return;
  const isOwn = origin === `http://${host}` || origin === `https://${host}`;
  if (isOwn && URL.canParse(origin) && isFixed(new URL(origin).hostname)) return;
  throw new PlantStoreError('origin_refused', 'Pages of this origin may not use MCP. Add the origin to CORS_ORIGINS.');
}

function isFixed(hostname: string): boolean {
  return hostname === 'localhost' || isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0;
}
