// Creates over 64 connections of wrk, with ascending ids above all existing ones, and with random ids between them.
// Rounds alternate between the stores, and medians are reported.

import { median } from './measure.ts';
import type { TokenedServer } from './server.ts';
import { loadCreates } from './wrk.ts';

const ROUND_SECONDS = 4;
const IDS_OF_A_ROUND = 10_000_000;

export interface Creates {
  perSecond: number;
  /** CPU time of the server per create. */
  cpuUs: number;
}

export interface CreateStore {
  server: TokenedServer;
  /** Upper bound of the existing ids, which are evenly spaced below it. */
  idsBelow: number;
}

export type Order = 'ascending' | 'random';

export interface MeasuredCreates {
  creates: Record<Order, Creates>;
  /** Number of plants added. */
  count: number;
}

/** Returns the results for each store. The first round is a warm-up and does not count. */
export async function measureCreates(
  stores: CreateStore[],
  rounds: number,
  folder: string,
): Promise<MeasuredCreates[]> {
  const all = stores.map(() => ({ ascending: [] as Creates[], random: [] as Creates[], count: 0 }));
  for (let round = 0; round <= rounds; round++) {
    for (const order of ['ascending', 'random'] as const) {
      for (const [at, store] of stores.entries()) {
        const { sent, perSecond, cpuUs } = await load(store, order, round, folder);
        const own = all[at] as (typeof all)[number];
        own.count += sent;
        if (round > 0) own[order].push({ perSecond, cpuUs });
      }
    }
  }
  return all.map(({ ascending, random, count }) => ({
    creates: { ascending: medians(ascending), random: medians(random) },
    count,
  }));
}

async function load({ server, idsBelow }: CreateStore, order: Order, round: number, folder: string) {
  const first = idsBelow + round * IDS_OF_A_ROUND;
  const random = order === 'random' ? { randomBelow: idsBelow } : {};
  return loadCreates(server, { first, ...random, seconds: ROUND_SECONDS, folder });
}

function medians(all: Creates[]): Creates {
  return { perSecond: median(all.map((one) => one.perSecond)), cpuUs: median(all.map((one) => one.cpuUs)) };
}
