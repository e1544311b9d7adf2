// Finds the URL at which a client reaches this service, for the OpenAPI description.

import type { Trusted } from './client-address.ts';
import type { HttpRequest } from './request-reply.ts';

export type ServerUrlOf = (request: HttpRequest) => string;

/** A host name, an IPv4 address or an IPv6 address in brackets, with or without a port. */
const HOST = /^([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?$/;

/**
 * Returns the function that finds the URL. It is absolute, because clients append paths such as `/plants` to it, and
 * `/` would give `//plants`. A trusted proxy reports the scheme of the client in `X-Forwarded-Proto`.
 */
export function createServerUrlOf(basePath: string, isTls: boolean, isProxy: Trusted): ServerUrlOf {
  return ({ raw, headers }) => {
    const { host = '', 'x-forwarded-proto': forwarded } = headers;
    if (!HOST.test(host)) return basePath || '/';
    const isHttps = isTls || (forwarded === 'https' && isProxy(raw.socket.remoteAddress ?? ''));
    return `${isHttps ? 'https' : 'http'}://${host}${basePath}`;
  };
}
