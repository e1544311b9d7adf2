// Clients that write and read all the time, and one that follows the change log. The ledger keeps what they are told.

import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type PlantStoreClient } from '../src/client/client.ts';
import { printJson } from '../src/lib/exact-json.ts';
import { changeLine, Ledger } from './ledger.ts';
import { countingFetch, untilAnswered } from './tries.ts';

const WRITERS = 24;
/** Of clients that want the same ids for different plants, each of a pair through its own node. */
const PAIRS = 4;
const OPERATIONS_PER_S = 1000;
/** The rest of the turns creates. */
const SHARES = { update: 0.2, read: 0.2 };
/** One of so many plants that the writer made last is updated or read. */
const RECENT = 100;
const FIRST_ID = 9_000_000_000_000_000_000n;
const TRY_MS = 30_000;

export interface LoadOptions {
  url: string;
  token: string;
  nodeNames: string[];
  /** From 0 up to 1, without it. */
  random: () => number;
  operationsPerS?: number;
}

export function startLoad(options: LoadOptions) {
  const { url, token, nodeNames, random, operationsPerS = OPERATIONS_PER_S } = options;
  const turnMs = ((WRITERS + 2 * PAIRS) / operationsPerS) * 1000;
  const ledger = new Ledger();
  const following = new AbortController();
  let isWriting = true;
  let nextId = FIRST_ID;

  const follower = follow(clientFor());
  const writers = [
    ...Array.from({ length: WRITERS }, (_, n) => inTurns(createWriter(clientFor(), `writer ${n}`))),
    ...Array.from({ length: PAIRS }, () => inTurns(createPair(nodeNames.map(clientFor)))),
  ];
  return {
    ledger,
    /** Ends after the last request of each was acknowledged. */
    async stopWriting() {
      isWriting = false;
      await Promise.all(writers);
    },
    async stopFollowing() {
      following.abort();
      await follower;
    },
  };

  /** Without retries of its own: what each single try comes to is what the trial is about. */
  function clientFor(node?: string): PlantStoreClient {
    return createClient({ url, token, timeoutMs: TRY_MS, retries: 0, fetch: countingFetch(ledger, node) });
  }

  async function inTurns(takeTurn: () => Promise<void>): Promise<void> {
    await sleep(random() * turnMs);
    while (isWriting) {
      const nextTurn = sleep(turnMs);
      await takeTurn().catch((error) => ledger.violations.push(error.message));
      await nextTurn;
    }
  }

  /** Creates plants, and updates and reads those that it created: nobody else does. */
  function createWriter(client: PlantStoreClient, author: string): () => Promise<void> {
    const own: bigint[] = [];
    return async () => {
      const dice = random();
      const known = own[Math.floor(random() * own.length)];
      if (known === undefined || dice > SHARES.update + SHARES.read) own.push(await store(client, author, undefined));
      else if (dice > SHARES.read) await store(client, author, known);
      else await readBack(client, known);
      if (own.length > RECENT) own.shift();
    };
  }

  async function store(client: PlantStoreClient, author: string, known: bigint | undefined): Promise<bigint> {
    const id = known ?? nextId++;
    const name = `Plant ${id}, version ${(ledger.plants.get(id)?.length ?? 0) + 1} by ${author}`;
    const stored = await untilAnswered(
      name,
      (): Promise<{ seq: number; replayed?: boolean }> =>
        known === undefined ? client.create({ id, name }) : client.put(id, { name }),
    );
    if (stored === 'id_taken') throw new Error(`${name}: refused, as if its own id were taken`);
    if (stored.replayed) ledger.replayed++;
    ledger.acknowledge(id, { name, seq: stored.seq });
    return id;
  }

  /** Whichever node is asked, and whoever leads now, it knows what was acknowledged before. */
  async function readBack(client: PlantStoreClient, id: bigint): Promise<void> {
    const expected = ledger.plants.get(id)?.at(-1);
    const found = await untilAnswered(`Reading ${id}`, () => client.get(id));
    ledger.read++;
    if (found === 'id_taken' || found.seq !== expected?.seq || found.record.name !== expected.name) {
      throw new Error(`${id} was read as ${printJson(found)}, after ${printJson(expected)} was acknowledged`);
    }
  }

  function createPair(clients: PlantStoreClient[]): () => Promise<void> {
    return async () => {
      const id = nextId++;
      const wins = await Promise.all(
        clients.map(async (client, n) => {
          const name = `Plant ${id}, wanted by client ${n}`;
          const outcome = await untilAnswered(name, () => client.create({ id, name }));
          if (outcome === 'id_taken') return 0;
          if (outcome.replayed) ledger.replayed++;
          ledger.acknowledge(id, { name, seq: outcome.seq });
          return 1;
        }),
      );
      ledger.contests++;
      const winners = wins.filter((win) => win === 1).length;
      if (winners !== 1) throw new Error(`${winners} clients won the id ${id}, not one`);
    };
  }

  async function follow(client: PlantStoreClient): Promise<void> {
    try {
      for await (const { seq, type, plant } of client.follow({ after: 0, signal: following.signal })) {
        ledger.followed.push(changeLine(seq, type, plant));
      }
    } catch (error) {
      ledger.violations.push(`The follower was sent away: ${(error as Error).message}`);
    }
  }
}
