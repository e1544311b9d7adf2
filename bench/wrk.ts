// Loads from wrk, which takes little of the machine that it shares with the servers. Its script puts each request
// together by hand: half of what wrk.format costs.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONNECTIONS, type Load, type Loaded } from './load.ts';

export const isWrkHere = spawnSync('wrk', ['--version']).error === undefined;

export async function wrk(load: Load): Promise<Loaded> {
  const script = join(load.folder, 'load.lua');
  writeFileSync(script, toLua(load));
  const child = spawn(
    'wrk',
    ['-t1', `-c${CONNECTIONS}`, `-d${load.seconds}`, '--timeout=30s', '-s', script, load.url],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      printed += chunk;
    });
  }
  await once(child, 'close');
  const line = /^\{"sent".*\}$/m.exec(printed)?.[0];
  if (line === undefined) throw new Error(`wrk failed: ${printed}`);
  const { sent, requests, seconds, bad, p50Us, p99Us } = JSON.parse(line) as Record<string, number>;
  if (requests === undefined || seconds === undefined || bad !== 0) throw new Error(`Not all are 2xx: ${printed}`);
  return {
    answered: requests,
    sent: sent ?? 0,
    perSecond: requests / seconds,
    p50Ms: (p50Us ?? 0) / 1000,
    p99Ms: (p99Us ?? 0) / 1000,
  };
}

/** wrk asks for one request that it does not send, to look at its form. */
function toLua({ url, request: { method, path, headers, body }, first, wrapAfter }: Load): string {
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${new URL(url).host}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  const head = `${lines.join('\r\n')}\r\n`;
  return `
    local n = ${first} - 2
    local calls = -1
    function request()
      n = n + 1
      calls = calls + 1
      ${wrapAfter === undefined ? '' : `if n >= ${first + wrapAfter} then n = ${first} end`}
      sent = calls
      ${body === undefined ? '' : `local body = ${toConcatenation(body)}`}
      return ${toConcatenation(head)} .. ${body === undefined ? '"\\r\\n"' : '"Content-Length: " .. #body .. "\\r\\n\\r\\n" .. body'}
    end
    local threads = {}
    function setup(thread) table.insert(threads, thread) end
    function done(summary, latency)
      local errors = summary.errors
      print(string.format(
        '{"sent":%d,"requests":%d,"seconds":%f,"bad":%d,"p50Us":%f,"p99Us":%f}',
        threads[1]:get("sent"), summary.requests, summary.duration / 1e6,
        errors.status + errors.connect + errors.read + errors.write + errors.timeout,
        latency:percentile(50), latency:percentile(99)))
    end`;
}

/** JSON's strings are Lua's, but for what is not ASCII or is a control character, of which headers and plants have none. */
function toConcatenation(template: string): string {
  return template
    .split('{n}')
    .map((text) => JSON.stringify(text))
    .join(' .. n .. ');
}
