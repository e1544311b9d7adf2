// Describes the headers of responses, each with an example.

import type { HeaderText } from '../core/route.ts';

const NEXT_REQUEST = 'Seconds to wait before a retry';

export const HEADERS_OF_STATUS: Record<number, Record<string, HeaderText>> = {
  401: { 'WWW-Authenticate': 'The challenge (RFC 6750)' },
  403: {
    'WWW-Authenticate': {
      description: 'The challenge (RFC 6750), with the required scopes',
      example: 'Bearer realm="plant-store", error="insufficient_scope", scope="plants:write"',
    },
  },
  405: { Allow: 'The methods that the path supports' },
  412: { ETag: 'ETag of the current record, if it exists' },
  415: { Accept: 'The accepted media types', 'Accept-Encoding': '`identity`, if the request body was compressed' },
  429: { 'Retry-After': NEXT_REQUEST },
  503: { 'Retry-After': NEXT_REQUEST },
};

export const RATE_HEADERS = {
  RateLimit:
    'For a token with a rate (`"token"`), or after too many invalid tokens (`"logins"`): the remaining requests, and the seconds until more are available (draft-ietf-httpapi-ratelimit-headers-11)',
  'RateLimit-Policy': 'For a token with a rate: the number of requests and the period in seconds',
};

/** Examples by the name of the header, for all routes that give none of their own. */
const EXAMPLES: Record<string, string> = {
  Accept: 'application/json',
  Allow: 'GET, HEAD',
  'Accept-Encoding': 'identity',
  'Cache-Control': 'no-store',
  ETag: '"1042"',
  'Idempotent-Replayed': 'true',
  'Last-Seq': '1042',
  Location: '/plants/7',
  Link: '</plants?limit=100&cursor=eyJpZCI6MTA3fQ>; rel="next"',
  RateLimit: '"token";r=99;t=1',
  'RateLimit-Policy': '"token";q=100;w=1',
  'Retry-After': '1',
  'Total-Count': '957',
  'WWW-Authenticate': 'Bearer realm="plant-store", error="invalid_token"',
  'X-Request-Id': '7f1c2a4e-5b0d-4c3e-9a68-1d2e3f405162',
};

/** Returns the headers of a response. Every response has `X-Request-Id`. */
export function describeHeaders(headers: Record<string, HeaderText> = {}): unknown {
  const all = {
    'X-Request-Id': "Id of the request in the service log. It is the client's own id if that is valid.",
    ...headers,
  };
  return Object.fromEntries(
    Object.entries(all).map(([name, text]) => {
      const { description, example } = typeof text === 'string' ? { description: text, example: EXAMPLES[name] } : text;
      return [name, { description, schema: { type: 'string' }, example }];
    }),
  );
}
