// Loads from wrk, which takes little of the machine that it shares with the servers. wrk itself would cut off what is
// under way at its end; so when the time is over the script sends nothing more (an empty request is none), says so when
// the last answer is there, and wrk is ended.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONNECTIONS, type Load, type Loaded } from './load.ts';
import { cpuUsOf } from './measure.ts';
import { type TokenedServer, toCreate } from './server.ts';

export const isWrkHere = spawnSync('wrk', ['--version']).error === undefined;
/** Then it has failed: answers do not take so long. */
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
  if (bad > 0 || answered !== sent) throw new Error(`Not all were answered with 2xx: ${printed}`);
  return { ...counted, perSecond: answered / seconds };
}

/** Loads a server with creates; with the processor time of the server for each. */
export async function loadCreates(
  { url, secret, pid }: TokenedServer,
  load: Omit<Load, 'url' | 'request'>,
): Promise<Loaded & { cpuUs: number }> {
  const beforeUs = cpuUsOf(pid) ?? Number.NaN;
  const loaded = await wrk({ ...load, url, request: toCreate(secret) });
  return { ...loaded, cpuUs: ((cpuUsOf(pid) ?? Number.NaN) - beforeUs) / loaded.answered };
}

/** Puts each request together by hand: half of what wrk.format costs. wrk asks for one more, to look at its form. */
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

/** JSON's strings are Lua's, but for what is not ASCII or is a control character, of which headers and plants have none. */
function toConcatenation(template: string): string {
  return template
    .split('{n}')
    .map((text) => JSON.stringify(text))
    .join(' .. n .. ');
}
