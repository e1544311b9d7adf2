// Creates from 64 connections of wrk, with ids that ascend above all that are there, and with ids at random between
// them: rounds in turns between the stores, and medians of them.

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { cpuUsOf, median } from './measure.ts';
import type { TokenedServer } from './server.ts';

const ROUND_SECONDS = 4;
const IDS_OF_A_ROUND = 10_000_000;

export interface Creates {
  perSecond: number;
  /** Of the server, for each. */
  cpuUs: number;
}

export interface CreateStore {
  server: TokenedServer;
  /** Ids of what is there are evenly below it. */
  idsBelow: number;
}

export type Order = 'ascending' | 'random';

export interface MeasuredCreates {
  creates: Record<Order, Creates>;
  /** So many were added. */
  count: number;
}

/** For each store. The first round warms up and is not counted. */
export async function measureCreates(
  stores: CreateStore[],
  rounds: number,
  folder: string,
): Promise<MeasuredCreates[]> {
  const all = stores.map(() => ({ ascending: [] as Creates[], random: [] as Creates[], count: 0 }));
  for (let round = 0; round <= rounds; round++) {
    for (const order of ['ascending', 'random'] as const) {
      for (const [at, store] of stores.entries()) {
        const { requests, ...measured } = await load(store, order, round, folder);
        const own = all[at] as (typeof all)[number];
        own.count += requests;
        if (round > 0) own[order].push(measured);
      }
    }
  }
  return all.map(({ ascending, random, count }) => ({
    creates: { ascending: medians(ascending), random: medians(random) },
    count,
  }));
}

async function load({ server, idsBelow }: CreateStore, order: Order, round: number, folder: string) {
  const { url, secret, pid } = server;
  const script = join(folder, 'load.lua');
  const firstId = idsBelow + round * IDS_OF_A_ROUND;
  writeFileSync(script, toLua(new URL(url).host, secret, order === 'random' ? idsBelow : undefined, firstId));
  const beforeUs = cpuUsOf(pid) ?? Number.NaN;
  const wrk = spawn('wrk', ['-t1', '-c64', `-d${ROUND_SECONDS}`, '-s', script, url]);
  const printed = await text(wrk.stdout);
  const requests = Number(/(\d+) requests in/.exec(printed)?.[1]);
  if (!(requests > 0) || /Non-2xx|Socket errors/.test(printed)) throw new Error(printed);
  return {
    requests,
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(printed)?.[1]),
    cpuUs: ((cpuUsOf(pid) ?? Number.NaN) - beforeUs) / requests,
  };
}

/** Put together by hand, which takes wrk half as long as its own way. Lua would print large numbers with an exponent. */
function toLua(host: string, secret: string, randomBelow: number | undefined, firstId: number): string {
  return `
    local head = "POST /plants HTTP/1.1\\r\\nHost: ${host}\\r\\nAuthorization: Bearer ${secret}\\r\\n" ..
      "Content-Type: application/json\\r\\nContent-Length: "
    local n = ${firstId}
    math.randomseed(n)
    function request()
      n = ${randomBelow === undefined ? 'n + 1' : `math.floor(math.random() * ${randomBelow})`}
      local id = string.format("%.0f", n)
      local body = '{"id":' .. id .. ',"name":"Monstera deliciosa ' .. id .. '","tag":"tropical"}'
      return head .. #body .. "\\r\\n\\r\\n" .. body
    end`;
}

function medians(all: Creates[]): Creates {
  return { perSecond: median(all.map((one) => one.perSecond)), cpuUs: median(all.map((one) => one.cpuUs)) };
}
