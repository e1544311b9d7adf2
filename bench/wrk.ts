// Generates load with wrk, which uses little CPU on the machine that it shares with the servers. wrk would abort
// requests in flight at its end. Therefore the script stops sending when the time is over (an empty request sends
// nothing), reports the last response, and then wrk is stopped.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONNECTIONS, type Load, type Loaded } from './load.ts';
import { cpuUsOf } from './measure.ts';
import { type TokenedServer, toCreate } from './server.ts';

export const isWrkHere = spawnSync('wrk', ['--version']).error === undefined;
/** Time after which a missing response counts as a failure. */
const LAST_ANSWER_SECONDS = 30;

export async function wrk(load: Load): Promise<Loaded & { p999Ms: number }> {
  const script = join(load.folder, 'load.lua');
  writeFileSync(script, toLua(load));
  const limits = [`-d${load.seconds + LAST_ANSWER_SECONDS}`, `--timeout=${LAST_ANSWER_SECONDS}`];
  const child = spawn('wrk', ['-t1', `-c${load.connections ?? CONNECTIONS}`, ...limits, '-s', script, load.url], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      printed += chunk;
      if (/^all answered$/m.test(printed)) child.kill('SIGINT');
    });
  }
  await once(child, 'close');
  const line = /^\{"sent".*\}$/m.exec(printed)?.[0];
  if (line === undefined) throw new Error(`wrk failed: ${printed}`);
  const { bad, seconds, ...counted } = JSON.parse(line);
  const { sent, answered } = counted;
  if (bad > 0 || answered !== sent) throw new Error(`Not every response was 2xx: ${printed}`);
  return { ...counted, perSecond: answered / seconds };
}

/** Loads a server with creates, and adds the server's CPU time per create. */
export async function loadCreates(
  { url, secret, pid }: TokenedServer,
  load: Omit<Load, 'url' | 'request'>,
): Promise<Loaded & { cpuUs: number }> {
  const beforeUs = cpuUsOf(pid) ?? Number.NaN;
  const loaded = await wrk({ ...load, url, request: toCreate(secret) });
  return { ...loaded, cpuUs: ((cpuUsOf(pid) ?? Number.NaN) - beforeUs) / loaded.answered };
}

/** Builds each request by concatenation, at half the cost of wrk.format. wrk requests one more to check its format. */
function toLua(load: Load): string {
  const { url, request, first, wrapAfter, randomBelow, seconds, connections = CONNECTIONS } = load;
  const { method, path, headers, body } = request;
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${new URL(url).host}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  const counted = wrapAfter === undefined ? `${first} + sent` : `${first} + sent % ${wrapAfter}`;
  const next = randomBelow === undefined ? counted : `math.floor(math.random() * ${randomBelow})`;
  const head = toConcatenation(`${lines.join('\r\n')}\r\n`);
  return `
    local ffi = require("ffi")
    ffi.cdef("typedef struct { long seconds; long ns; } clock_time; int clock_gettime(int, clock_time *);")
    local time = ffi.new("clock_time")
    local function now()
      ffi.C.clock_gettime(0, time)
      return tonumber(time.seconds) + tonumber(time.ns) / 1e9
    end

    math.randomseed(${first})
    sent = -1
    seconds = 0
    local finished = 0
    local begun
    function request()
      if sent == 0 then begun = now() end
      if sent > 0 then
        seconds = now() - begun
        if seconds >= ${seconds} then
          finished = finished + 1
          if finished == ${connections} then
            print("all answered")
            io.stdout:flush()
          end
          return ""
        end
      end
      local n = string.format("%.0f", ${next})
      sent = sent + 1
      ${
        body === undefined
          ? `return ${head} .. "\\r\\n"`
          : `local body = ${toConcatenation(body)}
      return ${head} .. "Content-Length: " .. #body .. "\\r\\n\\r\\n" .. body`
      }
    end

    local threads = {}
    function setup(thread) table.insert(threads, thread) end
    function done(summary, latency)
      local errors = summary.errors
      print(string.format(
        '{"sent":%d,"answered":%d,"seconds":%f,"bad":%d,"p50Ms":%f,"p99Ms":%f,"p999Ms":%f}',
        threads[1]:get("sent"), summary.requests, threads[1]:get("seconds"),
        errors.status + errors.connect + errors.read + errors.write + errors.timeout,
        latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency:percentile(99.9) / 1000))
    end`;
}

/**
 * JSON strings equal Lua strings except for control and non-ASCII characters, which headers and plants do not contain.
 */
function toConcatenation(template: string): string {
  return template
    .split('{n}')
    .map((text) => JSON.stringify(text))
    .join(' .. n .. ');
}
