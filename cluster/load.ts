// Clients that constantly write and read, and one that follows the change log. The ledger records their responses.

import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type PlantStoreClient } from '../src/client/client.ts';
import { printJson } from '../src/lib/exact-json.ts';
import { changeLine, Ledger } from './ledger.ts';
import { countingFetch, untilAnswered } from './tries.ts';

const WRITERS = 24;
/** Number of client pairs that request the same ids for different plants, each client through its own node. */
const PAIRS = 4;
const OPERATIONS_PER_S = 1000;
/** Shares of updates and reads. The remaining operations are creates. */
const SHARES = { update: 0.2, read: 0.2 };
/** Number of a writer's newest plants from which it picks one to update or read. */
const RECENT = 100;
const FIRST_ID = 9_000_000_000_000_000_000n;
const TRY_MS = 30_000;

export interface LoadOptions {
  url: string;
  token: string;
  nodeNames: string[];
  /** Returns a number from 0 up to but not including 1. */
  random: () => number;
  operationsPerS?: number;
}

export class ClusterLoad {
  readonly ledger = new Ledger();
  readonly #options: LoadOptions;
  readonly #following = new AbortController();
  readonly #follower: Promise<void>;
  readonly #writers: Promise<void>[];
  #isWriting = true;
  #nextId = FIRST_ID;

  /** Starts the load. */
  constructor(options: LoadOptions) {
    this.#options = options;
    this.#follower = this.#follow(this.#clientFor());
    this.#writers = [
      ...Array.from({ length: WRITERS }, (_, n) => this.#inTurns(this.#createWriter(`writer ${n}`))),
      ...Array.from({ length: PAIRS }, () => this.#inTurns(this.#createPair())),
    ];
  }

  /** Stops the writers, and waits until their last requests are acknowledged. */
  async stopWriting(): Promise<void> {
    this.#isWriting = false;
    await Promise.all(this.#writers);
  }

  async stopFollowing(): Promise<void> {
    this.#following.abort();
    await this.#follower;
  }

  /** Returns a client without its own retries, because the trial counts the outcome of each attempt. */
  #clientFor(node?: string): PlantStoreClient {
    const { url, token } = this.#options;
    return createClient({ url, token, timeoutMs: TRY_MS, retries: 0, fetch: countingFetch(this.ledger, node) });
  }

  async #inTurns(takeTurn: () => Promise<void>): Promise<void> {
    const { random, operationsPerS = OPERATIONS_PER_S } = this.#options;
    const turnMs = ((WRITERS + 2 * PAIRS) / operationsPerS) * 1000;
    await sleep(random() * turnMs);
    while (this.#isWriting) {
      const nextTurn = sleep(turnMs);
      await takeTurn().catch((error) => this.ledger.violations.push(error.message));
      await nextTurn;
    }
  }

  /** Creates plants, and updates and reads its own plants, which no other client changes. */
  #createWriter(author: string): () => Promise<void> {
    const client = this.#clientFor();
    const { random } = this.#options;
    const own: bigint[] = [];
    return async () => {
      const dice = random();
      const known = own[Math.floor(random() * own.length)];
      if (known === undefined || dice > SHARES.update + SHARES.read) own.push(await this.#store(client, author));
      else if (dice > SHARES.read) await this.#store(client, author, known);
      else await this.#readBack(client, known);
      if (own.length > RECENT) own.shift();
    };
  }

  async #store(client: PlantStoreClient, author: string, known?: bigint): Promise<bigint> {
    const id = known ?? this.#nextId++;
    const name = `Plant ${id}, version ${(this.ledger.plants.get(id)?.length ?? 0) + 1} by ${author}`;
    const stored = await untilAnswered(
      name,
      (): Promise<{ seq: number; replayed?: boolean }> =>
        known === undefined ? client.create({ id, name }) : client.put(id, { name }),
    );
    if (stored === 'id_taken') throw new Error(`${name}: rejected as a conflict, although the id is its own`);
    if (stored.replayed) this.ledger.replayed++;
    this.ledger.acknowledge(id, { name, seq: stored.seq });
    return id;
  }

  /** Reads a plant. Every node must return the last acknowledged version, whichever server leads. */
  async #readBack(client: PlantStoreClient, id: bigint): Promise<void> {
    const expected = this.ledger.plants.get(id)?.at(-1);
    const found = await untilAnswered(`Reading ${id}`, () => client.get(id));
    this.ledger.read++;
    if (found === 'id_taken' || found.seq !== expected?.seq || found.record.name !== expected.name) {
      throw new Error(`${id} was read as ${printJson(found)}, after ${printJson(expected)} was acknowledged`);
    }
  }

  #createPair(): () => Promise<void> {
    const clients = this.#options.nodeNames.map((name) => this.#clientFor(name));
    return async () => {
      const id = this.#nextId++;
      const wins = await Promise.all(
        clients.map(async (client, n) => {
          const name = `Plant ${id}, requested by client ${n}`;
          const outcome = await untilAnswered(name, () => client.create({ id, name }));
          if (outcome === 'id_taken') return 0;
          if (outcome.replayed) this.ledger.replayed++;
          this.ledger.acknowledge(id, { name, seq: outcome.seq });
          return 1;
        }),
      );
      this.ledger.contests++;
      const winners = wins.filter((win) => win === 1).length;
      if (winners !== 1) throw new Error(`${winners} clients won the id ${id} instead of one`);
    };
  }

  async #follow(client: PlantStoreClient): Promise<void> {
    try {
      for await (const { seq, type, plant } of client.follow({ after: 0, signal: this.#following.signal })) {
        this.ledger.followed.push(changeLine(seq, type, plant));
      }
    } catch (error) {
      this.ledger.violations.push(`The follower was disconnected: ${(error as Error).message}`);
    }
  }
}
