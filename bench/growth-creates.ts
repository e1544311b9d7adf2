// Creates from 64 connections of wrk, with ids that ascend above all that are there, and with ids at random between
// them: rounds in turns between the stores, and medians of them.

import { median } from './measure.ts';
import type { TokenedServer } from './server.ts';
import { loadCreates } from './wrk.ts';

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
