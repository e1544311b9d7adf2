// Reads of every kind, sequentially over one connection to each store. Requests alternate between the stores, so that
// other activity on the machine affects them equally.

import { Agent, get } from 'node:http';
import { toCursor } from '../src/domain/list-cursor.ts';
import { percentile } from './measure.ts';
import { plantAt } from './plants.ts';
import type { TokenedServer } from './server.ts';

const WARM_UP_REQUESTS = 200;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const random = seeded(1);

export interface ReadStore {
  server: TokenedServer;
  anyId(random: () => number): number;
}

const PATHS: Record<string, (anyId: () => number) => string> = {
  'GET by id': (anyId) => `/plants/${anyId()}`,
  'page of 100': (anyId) => `/plants?cursor=${toCursor({ key: 0, id: BigInt(anyId()) }, {})}`,
  'q, a whole word': () => `/plants?q=${word(0).toLowerCase()}`,
  'q, three letters': () => `/plants?q=${word(0).slice(0, 3)}`,
  'q, two letters': () => `/plants?q=${word(1).slice(0, 2)}`,
  'q, one letter': () => `/plants?q=${word(1).slice(0, 1)}`,
  'q, two words': () => `/plants?limit=5&q=${word(0).slice(0, 4)}+${word(1).slice(0, 4)}`,
  'q, no match': () => '/plants?q=zzyzx',
  'q and tag': () => `/plants?limit=5&tag=tree&q=${word(0)}`,
  tag: () => '/plants?tag=fern',
};

export interface Latency {
  p50Ms: number;
  p99Ms: number;
}

/** Returns the latencies for each store, by kind of read. */
export async function measureReads(stores: ReadStore[], requests: number): Promise<Record<string, Latency>[]> {
  const measured = stores.map((): Record<string, Latency> => ({}));
  for (const [kind, toPath] of Object.entries(PATHS)) {
    const times = stores.map((): number[] => []);
    for (let n = -WARM_UP_REQUESTS; n < requests; n++) {
      for (const [at, { server, anyId }] of stores.entries()) {
        const path = toPath(() => anyId(random));
        const begunMs = performance.now();
        await read(server, path);
        if (n >= 0) times[at]?.push(performance.now() - begunMs);
      }
    }
    for (const [at, all] of times.entries()) {
      (measured[at] as Record<string, Latency>)[kind] = { p50Ms: percentile(all, 0.5), p99Ms: percentile(all, 0.99) };
    }
  }
  agent.destroy();
  return measured;
}

function read({ url, secret }: TokenedServer, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url + path, { headers: { authorization: `Bearer ${secret}` }, agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${path}: ${response.statusCode}`));
      response.resume().on('end', resolve);
    }).on('error', reject);
  });
}

function word(at: 0 | 1): string {
  return plantAt(Math.floor(random() * 1600)).name.split(' ')[at] ?? '';
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}
