// The targets of the comparison, for Plant Store with its default settings.

import { type Result, ratio, type Target, toRate } from './results.ts';

export function toTargets(creates: Result[], reads: Result[], promotedBytes: number | undefined): Target[] {
  const [create, read] = [creates, reads].map((rows) => rows.find(({ name }) => name === 'plant-store'));
  if (!create) return [];
  const oneThread = creates.find(({ name }) => name === 'plant-store-1-thread');
  return [
    toTarget('creates: CPU time ÷ echo', create.cpuOfFloor, { atMost: 1.5 }),
    toTarget('creates: rate ÷ one thread', ratio(create.rounds, oneThread?.rounds, toRate), { atLeast: 1 }),
    toTarget('creates: bytes promoted', promotedBytes, { atMost: 100 }),
    toTarget('reads: rate ÷ echo', read?.rateOfFloor, { atLeast: 1 }),
    toTarget('peak memory under load, MiB', read?.serverMib ?? create.serverMib, { atMost: 300 }),
  ];
}

function toTarget(name: string, value: number | undefined, limit: { atLeast?: number; atMost?: number }): Target {
  const { atLeast = -Infinity, atMost = Infinity } = limit;
  return { name, value, ...limit, isMet: value === undefined ? undefined : value >= atLeast && value <= atMost };
}
