// What comes out of a comparison: medians of rounds, and ratios. A ratio is made within each round first, since what
// slows the machine down for a while slows down both.

import type { Machine } from './machine.ts';
import { median } from './measure.ts';
import type { Entrant, Round } from './race.ts';

export interface Comparison {
  date: string;
  machine: Machine;
  load: { by: string; connections: number; rounds: number; seconds: number };
  creates: Result[];
  /** By id. */
  reads: Result[];
  notMeasured: NotMeasured[];
}

export interface Result {
  name: string;
  version: string;
  setup: string;
  promise: string;
  /** Middle, least and most of the rounds. */
  perSecond: { median: number; min: number; max: number };
  p50Ms: number;
  p99Ms: number;
  /** Processor time for each request. */
  serverUs?: number;
  databaseUs?: number;
  serverMib?: number;
  databaseMib?: number;
  /** Against plain node:http. */
  rateOfFloor?: number;
  cpuOfFloor?: number;
  /** Against this server on the same kind of database. */
  cpuOfOurs?: number;
  /** With 2xx, warm-up included. */
  answered: number;
  /** A few more than answered: those that were cut off at the end of a load. */
  stored: number;
}

export interface NotMeasured {
  name: string;
  reason: string;
}

export interface Memory {
  serverMib: number | undefined;
  databaseMib: number | undefined;
}

export function summarize(measured: Map<Entrant, Round[]>, memory: Map<string, Memory>): Result[] {
  const roundsOf = (wanted: string) => [...measured].find(([{ contestant }]) => contestant.name === wanted)?.[1];
  return [...measured].map(([{ contestant, running, answered, stored }, rounds]) => {
    const { name, version, setup, promise } = contestant;
    const floor = roundsOf('echo');
    const ours = roundsOf(running.databasePid === undefined ? 'plant-store' : 'plant-store-postgres');
    const all = <T>(key: (round: Round) => T): T[] => rounds.map(key);
    const rates = all(({ perSecond }) => perSecond);
    const { serverMib, databaseMib } = memory.get(name) ?? {};
    return {
      name,
      version,
      setup,
      promise,
      perSecond: {
        median: Math.round(median(rates)),
        min: Math.round(Math.min(...rates)),
        max: Math.round(Math.max(...rates)),
      },
      p50Ms: round(median(all(({ p50Ms }) => p50Ms)), 2),
      p99Ms: round(median(all(({ p99Ms }) => p99Ms)), 2),
      ...known('serverUs', middle(all(({ serverUs }) => serverUs)), 1),
      ...known('databaseUs', middle(all(({ databaseUs }) => databaseUs)), 1),
      ...known('serverMib', serverMib, 0),
      ...known('databaseMib', databaseMib, 0),
      ...known(
        'rateOfFloor',
        ratio(rounds, floor, ({ perSecond }) => perSecond),
        3,
      ),
      ...known('cpuOfFloor', ratio(rounds, floor, cpuUs), 3),
      ...known('cpuOfOurs', ratio(rounds, ours, cpuUs), 3),
      answered,
      stored,
    };
  });
}

function cpuUs({ serverUs, databaseUs = 0 }: Round): number | undefined {
  return serverUs === undefined ? undefined : serverUs + databaseUs;
}

function ratio(
  rounds: Round[],
  others: Round[] | undefined,
  key: (round: Round) => number | undefined,
): number | undefined {
  return others && middle(rounds.map((one, at) => divided(key(one), others[at] && key(others[at]))));
}

function divided(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one / other;
}

function middle(values: (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : median(known);
}

function known<Key extends string>(key: Key, value: number | undefined, digits: number): { [K in Key]?: number } {
  return value === undefined ? {} : ({ [key]: round(value, digits) } as { [K in Key]: number });
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
