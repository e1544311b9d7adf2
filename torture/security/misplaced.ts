// A secret in every place where a client might put it, right or wrong: as requests, and as bytes that are not a
// request.

import type { Sent } from '../../testing/request.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const HEADERS = [
  ...'accept accept-encoding content-type cookie if-match if-none-match last-event-id mcp-session-id origin'.split(' '),
  ...'proxy-authorization referer traceparent tracestate user-agent x-api-key x-forwarded-for x-request-id'.split(' '),
];

/** Returns requests that do not store the secret. `good` authorizes those that need a token. */
export function misplacements(secret: string, good: string): Sent[] {
  const authorization = `Bearer ${good}`;
  const own = { authorization, ...JSON_TYPE };
  const basic = Buffer.from(`admin:${secret}`).toString('base64');
  const coded = `%${secret.charCodeAt(0).toString(16)}${secret.slice(1)}`;
  return [
    ...['/plants', '/plants/1', '/events', '/tokens', '/webhooks', '/metrics', '/mcp'].map((path) => ({
      path,
      headers: { authorization: `Bearer ${secret}` },
    })),
    ...[`Bearer ${secret}x`, `bearer  ${secret}`, `Token ${secret}`, secret, `Basic ${basic}`].map((text) => ({
      path: '/plants',
      headers: { authorization: text },
    })),
    { path: '/plants', headers: { authorization: [`Bearer ${secret}`, `Bearer ${secret}`] } },
    ...['access_token', 'token', 'limit', 'cursor', 'q', 'tag'].flatMap((name) => [
      { path: `/plants?${name}=${secret}` },
      { path: `/plants?${name}=${secret}`, headers: { authorization } },
    ]),
    { path: `/events?after=${secret}`, headers: { authorization } },
    ...[secret, coded, `${secret}/x`, `x${secret}x`, `%zz${secret}`].flatMap((text) => [
      { path: `/${text}` },
      { path: `/plants/${text}`, headers: { authorization } },
      { path: `/tokens/${text}`, headers: { authorization } },
      { path: `/webhooks/${text}/deliveries`, headers: { authorization } },
      { path: `/assets/${text}` },
    ]),
    { path: `http://user:${secret}@host/plants` },
    ...HEADERS.map((name) => ({ path: '/plants', headers: { authorization, [name]: secret } })),
    ...[
      `{"id":1,"name":"x","token":"${secret}"}`,
      `{"id":"${secret}","name":"x"}`,
      `{"id":${secret},"name":"x"}`,
      `"${secret}"`,
      secret,
      `{"id":1,"name":["${secret}"]}`,
    ].map((body) => ({ method: 'POST', path: '/plants', headers: own, body })),
    ...[
      `{"name":"x","scopes":["${secret}"]}`,
      `{"name":"x","expires":"${secret}"}`,
      `{"name":"x","rate":"${secret}"}`,
      `{"name":"x","secret":"${secret}"}`,
      `{"name":"x","${secret}":1}`,
    ].map((body) => ({ method: 'POST', path: '/tokens', headers: own, body })),
    ...[
      `{"url":"${secret}"}`,
      `{"url":"https://u:${secret}@example.com"}`,
      `{"url":"https://example.com/#${secret}"}`,
    ].map((body) => ({ method: 'POST', path: '/webhooks', headers: own, body })),
    {
      method: 'POST',
      path: '/plants/import',
      headers: { authorization, 'content-type': 'text/csv' },
      body: `id,${secret}\n1,x\n`,
    },
    {
      method: 'POST',
      path: '/plants/import',
      headers: { authorization, 'content-type': 'application/x-ndjson' },
      body: `{"id":${secret}}\n${secret}\n{"id":"${secret}","name":"x"}\n`,
    },
    {
      method: 'POST',
      path: '/mcp',
      headers: own,
      body: `{"jsonrpc":"2.0","id":1,"method":"${secret}","params":{"token":"${secret}"}}`,
    },
  ];
}

/** Returns malformed requests that contain the secret. */
export function misplacedBytes(secret: string): string[] {
  return [
    `GET /plants HTTP/1.1\r\nHost: ${secret}\r\nAuthorization: Bearer ${secret}\r\nConnection: close\r\n\r\n`,
    `GET /plants HTTP/1.1\r\nHost: x\r\nAuthorization : Bearer ${secret}\r\n\r\n`,
    `GET /plants HTTP/1.1\r\nHost: x\r\n${secret}\r\n\r\n`,
    `${secret} /plants HTTP/1.1\r\nHost: x\r\n\r\n`,
    `GET /plants ${secret}\r\n\r\n`,
  ];
}
