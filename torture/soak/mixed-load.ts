// A mix of all client operations at a steady rate. It creates and deletes plants equally, so the store keeps its size.

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

type Turn = [weight: number, what: string, take: (client: PlantStoreClient) => Promise<unknown>];

export class MixedLoad {
  answered = 0;
  /** Unexpected errors. */
  readonly failures: string[] = [];
  readonly #options: { url: string; token: string; random: Random };
  readonly #clients: Promise<void>[];
  readonly #ids: bigint[] = [];
  #durationsMs: number[] = [];
  #nextId = 1n;
  #lastSeq = 0;
  #isRunning = true;

  /** Starts the load. */
  constructor(options: { url: string; token: string; random: Random }) {
    this.#options = options;
    const { url, token } = options;
    const wheel = this.#turns().flatMap((turn) => Array<Turn>(turn[0] * 10).fill(turn));
    this.#clients = Array.from({ length: CLIENTS }, () =>
      this.#takeTurns(wheel, createClient({ url, token, retries: 0 })),
    );
  }

  /** Returns the p99 duration of the requests since the last call. */
  resetP99Ms(): number {
    const sorted = this.#durationsMs.sort((a, b) => a - b);
    this.#durationsMs = [];
    return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#clients);
  }

  /** Returns the operations with their weights. */
  #turns(): Turn[] {
    const { url, random } = this.#options;
    const anyId = () => (this.#ids.length > 0 ? random.pick(this.#ids) : 0n);
    return [
      [26, 'create', (client) => this.#create(client)],
      [30, 'get', (client) => orMissing(client.get(anyId()))],
      [10, 'put', (client) => client.put(anyId(), { name: this.#anyName(), tag: 'shade' })],
      [6, 'patch', (client) => orMissing(client.patch(anyId(), { name: this.#anyName() }))],
      [14, 'delete', async (client) => this.#ids.length > 0 && orMissing(client.delete(this.#removeId()))],
      [5, 'list', (client) => client.list({ limit: 100 })],
      [4, 'search', (client) => client.list({ q: `mon ${random.below(100)}`, limit: 50 })],
      [2, 'changes', (client) => client.changes({ after: Math.max(0, this.#lastSeq - 100), limit: 100 })],
      [3, 'mistake', () => this.#expectMistake()],
      [1.6, 'connect', async () => (await fetch(`${url}/healthz`, { headers: { connection: 'close' } })).text()],
      [0.4, 'follow', (client) => this.#follow(client)],
      [0.2, 'import', () => this.#importSome()],
      [0.1, 'export', async () => (await this.#authorized('/plants/export')).text()],
    ];
  }

  async #takeTurns(wheel: Turn[], client: PlantStoreClient): Promise<void> {
    await sleep(this.#options.random() * TURN_MS);
    while (this.#isRunning) {
      const next = sleep(TURN_MS);
      const [, what, take] = this.#options.random.pick(wheel);
      const startMs = performance.now();
      try {
        await take(client);
        if (what !== 'follow') this.#durationsMs.push(performance.now() - startMs);
      } catch (error) {
        this.failures.push(`${what}: ${(error as Error).message}`);
      }
      this.answered++;
      await next;
    }
  }

  async #create(client: PlantStoreClient): Promise<void> {
    if (this.#ids.length >= PLANTS) await orMissing(client.delete(this.#removeId()));
    const id = this.#nextId++;
    this.#lastSeq = (await client.create({ id, name: this.#anyName(), tag: 'tropical' })).seq;
    this.#ids.push(id); // after the create, since another client could put this id first otherwise
  }

  #anyName(): string {
    return `Monstera deliciosa ${this.#options.random.below(1000)}`;
  }

  #removeId(): bigint {
    return this.#ids.splice(this.#options.random.below(this.#ids.length), 1)[0] as bigint;
  }

  async #expectMistake(): Promise<void> {
    const [path, init] = this.#options.random.pick(MISTAKES);
    const response = await this.#authorized(path, init);
    await response.text();
    if (response.status < 400 || response.status >= 500) throw new Error(`${path} returned ${response.status}`);
  }

  async #importSome(): Promise<void> {
    const lines = Array.from({ length: IMPORTED }, (_, n) => `{"id":${-1 - n},"name":"Ficus"}\n`);
    const init = { method: 'POST', body: lines.join(''), headers: { 'content-type': 'application/x-ndjson' } };
    const response = await this.#authorized('/plants/import', init);
    const { created, replayed } = (await response.json()) as { created: number; replayed: number };
    if (created + replayed !== IMPORTED) throw new Error(`${created + replayed} of ${IMPORTED} were imported`);
  }

  async #follow(client: PlantStoreClient): Promise<void> {
    for await (const _ of client.follow({ after: this.#lastSeq, signal: AbortSignal.timeout(FOLLOW_MS) }))
      if (!this.#isRunning) return;
  }

  /**
   * Sends a request. All clients share a token, which may use a quarter of the export or import slots, so it retries
   * 429.
   */
  async #authorized(path: string, init: RequestInit = {}): Promise<Response> {
    const { url, token } = this.#options;
    for (;;) {
      const headers = { authorization: `Bearer ${token}`, ...init.headers };
      const response = await fetch(url + path, { ...init, headers });
      if (response.status !== 429 || !this.#isRunning) return response;
      await response.text();
      await sleep(1000 * Number(response.headers.get('retry-after')));
    }
  }
}

/** Ignores a 404, since another client may have deleted the plant. */
async function orMissing(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof PlantStoreError && error.code === 'not_found') return undefined;
    throw error;
  }
}
