// Loads from autocannon, for machines without wrk. It comes from npm when it is needed.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { install } from './install.ts';
import { CONNECTIONS, type Load, type Loaded } from './load.ts';

interface Result {
  '2xx': number;
  non2xx: number;
  errors: number;
  duration: number;
  requests: { sent: number };
  latency: { p50: number; p99: number };
}

export async function autocannon({
  url,
  request,
  first,
  wrapAfter,
  seconds,
  connections = CONNECTIONS,
}: Load): Promise<Loaded> {
  const folder = await install('autocannon', { autocannon: '8.0.0' });
  const cannon = createRequire(join(folder, 'package.json'))('autocannon');
  let calls = 0;
  const next = (template: string) => {
    const n = first + (wrapAfter === undefined ? calls : calls % wrapAfter);
    return template.replaceAll('{n}', String(n));
  };
  const { method, headers, path, body } = request;
  const setupRequest = (asked: object) => {
    const filled = { ...asked, path: next(path), ...(body !== undefined && { body: next(body) }) };
    calls++;
    return filled;
  };
  const result: Result = await cannon({
    url,
    connections,
    duration: seconds,
    timeout: 30,
    requests: [{ method, headers, setupRequest }],
  });
  if (result.non2xx + result.errors > 0) throw new Error(`Not all are 2xx: ${JSON.stringify(result)}`);
  return {
    answered: result['2xx'],
    sent: result.requests.sent,
    perSecond: result['2xx'] / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
  };
}
