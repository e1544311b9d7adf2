// Unusual headers that a server may receive. None of them requests an event stream, since its response has no end.

const ETAGS = ['*', '"1"', 'W/"1"', '"1", "2"', '"x"', '1', '', '"', ',', '"9"x', '"99999999999999999999"'];
const JSON_TYPES = ['application/json', 'application/merge-patch+json', 'application/json;charset="UTF-8"'];

const ODD: Record<string, string[]> = {
  'Content-Type': [...JSON_TYPES, 'application/x-ndjson', 'text/csv', 'application/jsonx', 'text/plain', 'x', ';', ''],
  'content-type': ['application/json; charset=utf-16', 'text/csv; charset=latin1'],
  Authorization: ['', 'x', 'Basic eDp5', 'Bearer', 'Bearer x'],
  'If-Match': ETAGS,
  'If-None-Match': ETAGS,
  Accept: ['text/csv', 'application/json', '*/*', 'x;q=a', ';,', '', 'text/*;q=0'],
  'Content-Encoding': ['gzip', 'identity', ''],
  'Last-Event-ID': ['1', 'x', '-1', '9'.repeat(20)],
  'X-Request-Id': ['sane-1', 'in sane', 'x'.repeat(200), '\xff'],
  Expect: ['100-continue', 'miracles'],
  Connection: ['close', 'Upgrade', 'keep-alive, x'],
  Upgrade: ['h2c', 'websocket'],
  Origin: ['https://evil.invalid', 'null', ''],
  'Access-Control-Request-Method': ['PUT'],
  Range: ['bytes=0-1', 'x'],
  Cookie: ['\xe9=\xff'],
  Host: ['y', ''],
  'X-Forwarded-For': ['1.2.3.4, x'],
  traceparent: ['00-x-y-z', '00-00000000000000000000000000000000-0000000000000000-00'],
  ['__proto__']: ['x'],
  constructor: ['x'],
  X: ['a\0b', '\x01', 'y'.repeat(20_000)],
  'X Y': ['z'],
  '': ['z'],
};

export const ODD_HEADERS = Object.entries(ODD).flatMap(([name, values]) =>
  values.map((value): [name: string, value: string] => [name, value]),
);
