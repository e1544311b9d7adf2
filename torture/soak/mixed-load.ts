// Everything that clients do, mixed, at a steady pace: plants come and go, so that the store stays as large as it is.

import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type PlantStoreClient, PlantStoreError } from '../../src/client/client.ts';
import type { NewPlant } from '../../src/domain/plant.ts';
import type { Random } from '../random.ts';

const CLIENTS = 24;
const TURN_MS = 80;
const PLANTS = 5000;
const IMPORTED = 200;
const FOLLOW_MS = 2000;

/** What a client does in its turn, and how often: the numbers are weights. */
const TURNS = {
  create: 26,
  get: 30,
  put: 10,
  patch: 6,
  delete: 14,
  list: 5,
  search: 4,
  changes: 2,
  mistake: 3,
  connect: 1.6,
  follow: 0.4,
  import: 0.2,
  export: 0.1,
} as const;
type Turn = keyof typeof TURNS;

const MISTAKES: { path: string; init?: RequestInit }[] = [
  { path: '/plants/x' },
  { path: '/plants?limit=0' },
  { path: '/nowhere' },
  { path: '/plants', init: { method: 'POST', body: '{"id":1.5}', headers: { 'content-type': 'application/json' } } },
  {
    path: '/plants',
    init: { method: 'POST', body: 'x'.repeat(70_000), headers: { 'content-type': 'application/json' } },
  },
  { path: '/plants', init: { method: 'POST', body: '{}', headers: { 'content-type': 'text/plain' } } },
  { path: '/plants', init: { headers: { authorization: 'Bearer nobody' } } },
];

export interface MixedLoad {
  answered(): number;
  /** What should not have happened. */
  failures: string[];
  /** Of the requests since it was last asked. */
  takeP99Ms(): number;
  stop(): Promise<void>;
}

export function startMixedLoad({ url, token, random }: { url: string; token: string; random: Random }): MixedLoad {
  const failures: string[] = [];
  const ids: bigint[] = [];
  let durationsMs: number[] = [];
  let answered = 0;
  let nextId = 1n;
  let lastSeq = 0;
  let isRunning = true;
  const wheel = Object.entries(TURNS).flatMap(([turn, weight]) => Array<Turn>(weight * 10).fill(turn as Turn));
  const clients = Array.from({ length: CLIENTS }, () => takeTurns(createClient({ url, token, retries: 0 })));

  return {
    answered: () => answered,
    failures,
    takeP99Ms() {
      const sorted = durationsMs.sort((a, b) => a - b);
      durationsMs = [];
      return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
    },
    async stop() {
      isRunning = false;
      await Promise.all(clients);
    },
  };

  async function takeTurns(client: PlantStoreClient): Promise<void> {
    await sleep(random() * TURN_MS);
    while (isRunning) {
      const next = sleep(TURN_MS);
      const turn = random.pick(wheel);
      const startMs = performance.now();
      try {
        await take(turn, client);
        if (turn !== 'follow') durationsMs.push(performance.now() - startMs);
      } catch (error) {
        failures.push(`${turn}: ${(error as Error).message}`);
      }
      answered++;
      await next;
    }
  }

  async function take(turn: Turn, client: PlantStoreClient): Promise<unknown> {
    const id = ids.length > 0 ? random.pick(ids) : 0n;
    const name = `Monstera deliciosa ${random.below(1000)}`;
    switch (turn) {
      case 'create':
        if (ids.length >= PLANTS) await orMissing(client.delete(takeOut()));
        return create(client, { id: nextId++, name, tag: 'tropical' });
      case 'get':
        return orMissing(client.get(id));
      case 'put':
        return client.put(id, { name, tag: 'shade' });
      case 'patch':
        return orMissing(client.patch(id, { name }));
      case 'delete':
        return ids.length > 0 && orMissing(client.delete(takeOut()));
      case 'list':
        return client.list({ limit: 100 });
      case 'search':
        return client.list({ q: `mon ${random.below(100)}`, limit: 50 });
      case 'changes':
        return client.changes({ after: Math.max(0, lastSeq - 100), limit: 100 });
      case 'mistake':
        return expectMistake();
      case 'connect':
        return (await fetch(`${url}/healthz`, { headers: { connection: 'close' } })).text();
      case 'follow':
        return follow(client);
      case 'import':
        return importSome();
      case 'export':
        return (await authorized('/plants/export')).text();
    }
  }

  async function create(client: PlantStoreClient, plant: NewPlant): Promise<void> {
    lastSeq = (await client.create(plant)).seq;
    ids.push(plant.id); // now: another client that puts one may come first otherwise
  }

  function takeOut(): bigint {
    return ids.splice(random.below(ids.length), 1)[0] as bigint;
  }

  async function expectMistake(): Promise<void> {
    const { path, init } = random.pick(MISTAKES);
    const response = await authorized(path, init);
    await response.text();
    if (response.status < 400 || response.status >= 500)
      throw new Error(`${path} was answered with ${response.status}`);
  }

  async function importSome(): Promise<void> {
    const lines = Array.from({ length: IMPORTED }, (_, n) => `{"id":${-1 - n},"name":"Ficus"}\n`);
    const init = { method: 'POST', body: lines.join(''), headers: { 'content-type': 'application/x-ndjson' } };
    const response = await authorized('/plants/import', init);
    const { created, replayed } = (await response.json()) as { created: number; replayed: number };
    if (created + replayed !== IMPORTED) throw new Error(`${created + replayed} of ${IMPORTED} were imported`);
  }

  async function follow(client: PlantStoreClient): Promise<void> {
    for await (const _ of client.follow({ after: lastSeq, signal: AbortSignal.timeout(FOLLOW_MS) }))
      if (!isRunning) return;
  }

  /** All clients have one token, which may not have more than a quarter of the export or import slots. */
  async function authorized(path: string, init: RequestInit = {}): Promise<Response> {
    for (;;) {
      const response = await fetch(url + path, {
        ...init,
        headers: { authorization: `Bearer ${token}`, ...init.headers },
      });
      if (response.status !== 429 || !isRunning) return response;
      await response.text();
      await sleep(1000 * Number(response.headers.get('retry-after')));
    }
  }
}

/** Another client may have deleted it. */
async function orMissing(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof PlantStoreError && error.code === 'not_found') return undefined;
    throw error;
  }
}
