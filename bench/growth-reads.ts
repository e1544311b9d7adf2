// Reads of every kind, sequentially over one connection to each store. Requests alternate between the stores, so that
// other activity on the machine affects them equally.

import { Agent, get } from 'node:http';
import { cursorAfter, toCursor } from '../src/domain/list-cursor.ts';
import type { Sort } from '../src/domain/list-order.ts';
import { percentile } from './measure.ts';
import { plantAt } from './plants.ts';
import type { TokenedServer } from './server.ts';

const WARM_UP_REQUESTS = 200;
/** Number of records whose names and times are places in a list. */
const SAMPLED = 500;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const random = seeded(1);

export interface ReadStore {
  server: TokenedServer;
  anyId(random: () => number): number;
}

/** Returns the path of a request. `anyRecord` is one of the sampled records of the store. */
type ToPath = (anyId: () => number, anyRecord: () => Sampled) => string;
type Sampled = { id: number; name: string; updated: string };

const PATHS: Record<string, ToPath> = {
  'GET by id': (anyId) => `/plants/${anyId()}`,
  'page of 100': (anyId) => `/plants?cursor=${toCursor({ key: 0, id: BigInt(anyId()) }, {})}`,
  'page of 100, by -id': (anyId) =>
    `/plants?sort=-id&cursor=${toCursor({ key: 0, id: BigInt(anyId()) }, { sort: '-id' })}`,
  'page of 100, by name': (_, anyRecord) => pageAfter(anyRecord(), 'name'),
  'page of 100, by -name': (_, anyRecord) => pageAfter(anyRecord(), '-name'),
  'page of 100, by updated': (_, anyRecord) => pageAfter(anyRecord(), 'updated'),
  'page of 100, by -updated': (_, anyRecord) => pageAfter(anyRecord(), '-updated'),
  'page of 1, with the count': () => '/plants?limit=1&count=true',
  'history of a plant': (_, anyRecord) => `/plants/${anyRecord().id}/changes`,
  'newest 100 changes': () => '/events?order=desc',
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
  const samples = await Promise.all(stores.map(sample));
  for (const [kind, toPath] of Object.entries(PATHS)) {
    const times = stores.map((): number[] => []);
    for (let n = -WARM_UP_REQUESTS; n < requests; n++) {
      for (const [at, { server, anyId }] of stores.entries()) {
        const anyRecord = () => samples[at]?.[Math.floor(random() * SAMPLED)] as Sampled;
        const path = toPath(() => anyId(random), anyRecord);
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

/** Returns random records of a store. */
async function sample({ server, anyId }: ReadStore): Promise<Sampled[]> {
  const records: Sampled[] = [];
  while (records.length < SAMPLED) {
    const body = await read(server, `/plants?limit=1&cursor=${toCursor({ key: 0, id: BigInt(anyId(random)) }, {})}`);
    records.push(...JSON.parse(body));
  }
  return records;
}

function pageAfter(record: Sampled, sort: Sort): string {
  return `/plants?sort=${sort}&cursor=${cursorAfter({ ...record, id: BigInt(record.id) }, { sort })}`;
}

function read({ url, secret }: TokenedServer, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url + path, { headers: { authorization: `Bearer ${secret}` }, agent }, async (response) => {
      const body = (await response.toArray()).join('');
      if (response.statusCode === 200) resolve(body);
      else reject(new Error(`${path}: ${response.statusCode}`));
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
