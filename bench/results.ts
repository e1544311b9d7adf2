// The results of a comparison: medians of rounds, and ratios. A ratio is computed within each round first, because a
// temporary slowdown of the machine affects both servers. Unknown values are `undefined` and omitted from the JSON.

import type { Contestant, Group } from './contestants/contestant.ts';
import type { Machine } from './machine.ts';
import { median } from './measure.ts';
import type { Entrant, Round } from './race.ts';

export interface Comparison {
  date: string;
  machine: Machine;
  load: { by: string; connections: number; rounds: number; seconds: number };
  creates: Result[];
  /** Reads by id. */
  reads: Result[];
  targets: Target[];
  notMeasured: { name: string; reason: string }[];
}

export interface Target {
  name: string;
  /** Undefined if a server that it needs was not measured. */
  value: number | undefined;
  atLeast?: number;
  atMost?: number;
  isMet: boolean | undefined;
}

export interface Result extends Partial<End> {
  name: string;
  group: Group;
  version: string;
  database: string | undefined;
  setup: string;
  survives: Contestant['survives'];
  promise: string;
  /** Median, minimum and maximum of the rounds. */
  perSecond: { median: number; min: number; max: number };
  p50Ms: number;
  p99Ms: number;
  /** CPU time per request. */
  serverUs: number | undefined;
  databaseUs: number | undefined;
  /** Ratio to plain node:http. */
  rateOfFloor: number | undefined;
  cpuOfFloor: number | undefined;
  /** Ratio to this server with its default settings. */
  cpuOfOurs: number | undefined;
  rounds: Round[];
}

/** State of a contestant after its rounds. */
export interface End {
  /** Peak memory since the start. */
  serverMib: number | undefined;
  databaseMib: number | undefined;
  /** Number of 2xx responses, including the warm-up. */
  answered: number;
  stored: number;
}

export function summarize(measured: Map<Entrant, Round[]>, endOf: (entrant: Entrant) => Partial<End>): Result[] {
  const roundsOf = (wanted: string) => [...measured].find(([{ contestant }]) => contestant.name === wanted)?.[1];
  const [floor, ours] = ['echo', 'plant-store'].map(roundsOf);
  return [...measured].map(([entrant, rounds]) => {
    const { name, group, setup, survives, promise } = entrant.contestant;
    const { version, database } = entrant.running;
    const rates = rounds.map(toRate);
    return {
      name,
      group,
      version,
      database,
      setup,
      survives,
      promise,
      perSecond: { median: median(rates), min: Math.min(...rates), max: Math.max(...rates) },
      p50Ms: median(rounds.map(({ p50Ms }) => p50Ms)),
      p99Ms: median(rounds.map(({ p99Ms }) => p99Ms)),
      serverUs: medianOfKnown(rounds.map(({ serverUs }) => serverUs)),
      databaseUs: medianOfKnown(rounds.map(({ databaseUs }) => databaseUs)),
      rateOfFloor: ratio(rounds, floor, toRate),
      cpuOfFloor: ratio(rounds, floor, toCpuUs),
      cpuOfOurs: ratio(rounds, ours, toCpuUs),
      ...endOf(entrant),
      rounds,
    };
  });
}

export function toRate({ perSecond }: Round): number {
  return perSecond;
}

function toCpuUs({ serverUs, databaseUs = 0 }: Round): number {
  return serverUs === undefined ? Number.NaN : serverUs + databaseUs;
}

/** Returns the median of the ratios in each round. */
export function ratio(rounds: Round[], others: Round[] | undefined, key: (round: Round) => number): number | undefined {
  if (!others) return undefined;
  const ratios = rounds.map((one, at) => key(one) / key(others[at] as Round));
  return medianOfKnown(ratios.map((value) => (Number.isNaN(value) ? undefined : Number(value.toFixed(3)))));
}

function medianOfKnown(values: (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : median(known);
}
