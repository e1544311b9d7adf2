// Everything that clients do, mixed, at a steady pace: plants come and go, so that the store stays as large as it is.

import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type PlantStoreClient, PlantStoreError } from '../../src/client/client.ts';
import type { Random } from '../random.ts';

const CLIENTS = 24;
const TURN_MS = 80;
const PLANTS = 5000;
const IMPORTED = 200;
const FOLLOW_MS = 2000;

const MISTAKES: [path: string, init?: RequestInit][] = [
  ['/plants/x'],
  ['/plants?limit=0'],
  ['/nowhere'],
  ['/plants', { method: 'POST', body: '{"id":1.5}', headers: { 'content-type': 'application/json' } }],
  ['/plants', { method: 'POST', body: 'x'.repeat(70_000), headers: { 'content-type': 'application/json' } }],
  ['/plants', { method: 'POST', body: '{}', headers: { 'content-type': 'text/plain' } }],
  ['/plants', { headers: { authorization: 'Bearer nobody' } }],
];

export function startMixedLoad({ url, token, random }: { url: string; token: string; random: Random }) {
  const failures: string[] = [];
  const ids: bigint[] = [];
  let durationsMs: number[] = [];
  let answered = 0;
  let nextId = 1n;
  let lastSeq = 0;
  let isRunning = true;
  const anyId = () => (ids.length > 0 ? random.pick(ids) : 0n);
  const anyName = () => `Monstera deliciosa ${random.below(1000)}`;
  /** What a client does in its turn, by how often. */
  const TURNS: [weight: number, what: string, take: (client: PlantStoreClient) => Promise<unknown>][] = [
    [26, 'create', create],
    [30, 'get', (client) => orMissing(client.get(anyId()))],
    [10, 'put', (client) => client.put(anyId(), { name: anyName(), tag: 'shade' })],
    [6, 'patch', (client) => orMissing(client.patch(anyId(), { name: anyName() }))],
    [14, 'delete', async (client) => ids.length > 0 && orMissing(client.delete(removeId()))],
    [5, 'list', (client) => client.list({ limit: 100 })],
    [4, 'search', (client) => client.list({ q: `mon ${random.below(100)}`, limit: 50 })],
    [2, 'changes', (client) => client.changes({ after: Math.max(0, lastSeq - 100), limit: 100 })],
    [3, 'mistake', expectMistake],
    [1.6, 'connect', async () => (await fetch(`${url}/healthz`, { headers: { connection: 'close' } })).text()],
    [0.4, 'follow', follow],
    [0.2, 'import', importSome],
    [0.1, 'export', async () => (await authorized('/plants/export')).text()],
  ];
  const wheel = TURNS.flatMap((turn) => Array<(typeof TURNS)[number]>(turn[0] * 10).fill(turn));
  const clients = Array.from({ length: CLIENTS }, () => takeTurns(createClient({ url, token, retries: 0 })));

  return {
    answered: () => answered,
    /** What should not have happened. */
    failures,
    /** Returns the p99 of the requests since the last call. */
    resetP99Ms(): number {
      const sorted = durationsMs.sort((a, b) => a - b);
      durationsMs = [];
      return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
    },
    async stop(): Promise<void> {
      isRunning = false;
      await Promise.all(clients);
    },
  };

  async function takeTurns(client: PlantStoreClient): Promise<void> {
    await sleep(random() * TURN_MS);
    while (isRunning) {
      const next = sleep(TURN_MS);
      const [, what, take] = random.pick(wheel);
      const startMs = performance.now();
      try {
        await take(client);
        if (what !== 'follow') durationsMs.push(performance.now() - startMs);
      } catch (error) {
        failures.push(`${what}: ${(error as Error).message}`);
      }
      answered++;
      await next;
    }
  }

  async function create(client: PlantStoreClient): Promise<void> {
    if (ids.length >= PLANTS) await orMissing(client.delete(removeId()));
    const id = nextId++;
    lastSeq = (await client.create({ id, name: anyName(), tag: 'tropical' })).seq;
    ids.push(id); // now: another client that puts one may come first otherwise
  }

  function removeId(): bigint {
    return ids.splice(random.below(ids.length), 1)[0] as bigint;
  }

  async function expectMistake(): Promise<void> {
    const [path, init] = random.pick(MISTAKES);
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
