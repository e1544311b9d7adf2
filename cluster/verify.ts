// Compares the stored plants and the change log with the acknowledged writes.

import type { PlantStoreClient } from '../src/client/client.ts';
import { changeLine, type Ledger } from './ledger.ts';
import { eventually } from './machine.ts';

const CHANGES_AT_ONCE = 1000;

export interface Findings {
  stored: number;
  changes: number;
  /** Acknowledged plants that are missing or differ. */
  lost: string[];
  /** All other violations, with ids. */
  violations: string[];
}

/** Verifies the state after all writers have stopped. The follower has `followedWithinMs` to reach the end. */
export async function verify(client: PlantStoreClient, ledger: Ledger, followedWithinMs: number): Promise<Findings> {
  const stored = await readPlants(client);
  const log = await readLog(client);
  const last = log.at(-1)?.line;
  const late = await eventually(`the follower has received "${last}"`, followedWithinMs, async () => {
    return ledger.followed.at(-1) === last || undefined;
  }).then(
    () => [],
    (error: Error) => [error.message],
  );
  const lost = [...ledger.plants].flatMap(([id, versions]) => {
    const expected = versions.at(-1)?.name;
    const found = stored.get(id);
    return found === expected ? [] : [`${id} is ${quote(found)}, but ${quote(expected)} was acknowledged`];
  });
  const violations = [
    ...late,
    ...unknownPlants(stored, ledger),
    ...wrongOrder(log),
    ...wrongChanges(log, ledger),
    ...wronglyFollowed(log, ledger),
  ];
  return { stored: stored.size, changes: log.length, lost, violations };
}

async function readPlants(client: PlantStoreClient): Promise<Map<bigint, string>> {
  const stored = new Map<bigint, string>();
  for await (const { id, name } of (await client.export()).plants) stored.set(id, name);
  return stored;
}

interface LogEntry {
  seq: number;
  id: bigint;
  line: string;
}

async function readLog(client: PlantStoreClient): Promise<LogEntry[]> {
  const log: LogEntry[] = [];
  for (;;) {
    const changes = await client.changes({ after: log.at(-1)?.seq ?? 0, limit: CHANGES_AT_ONCE });
    if (changes.length === 0) return log;
    for (const { seq, type, plant } of changes) log.push({ seq, id: plant.id, line: changeLine(seq, type, plant) });
  }
}

function unknownPlants(stored: Map<bigint, string>, { plants }: Ledger): string[] {
  return [...stored].flatMap(([id, name]) =>
    plants.has(id) ? [] : [`${id} is stored as ${quote(name)}, which was not acknowledged`],
  );
}

function wrongOrder(log: LogEntry[]): string[] {
  return log.flatMap(({ seq, line }, index) => {
    const before = log[index - 1]?.seq ?? 0;
    return seq > before ? [] : [`The change log has "${line}" after number ${before}`];
  });
}

/**
 * Finds plants whose changes are not one plant.created and one plant.updated per update, with the acknowledged numbers.
 */
function wrongChanges(log: LogEntry[], { plants }: Ledger): string[] {
  const byId = Map.groupBy(log, ({ id }) => id);
  const ids = new Set([...plants.keys(), ...byId.keys()]);
  return [...ids].flatMap((id) => {
    const expected = (plants.get(id) ?? []).map(({ seq, name }, index) =>
      changeLine(seq, index === 0 ? 'plant.created' : 'plant.updated', { id, name }),
    );
    const found = (byId.get(id) ?? []).map(({ line }) => line);
    if (found.join('\n') === expected.join('\n')) return [];
    return [`The change log of ${id} is ${JSON.stringify(found)}, but ${JSON.stringify(expected)} was acknowledged`];
  });
}

function wronglyFollowed(log: LogEntry[], { followed }: Ledger): string[] {
  const inLog = new Set(log.map(({ line }) => line));
  const seen = new Set(followed);
  const missed = [...inLog].filter((line) => !seen.has(line)).map((line) => `The follower missed "${line}"`);
  const strange = [...seen]
    .filter((line) => !inLog.has(line))
    .map((line) => `The follower saw "${line}", which is not in the change log`);
  const repeated = followed.length - seen.size;
  const isSameOrder = followed.every((line, index) => line === log[index]?.line);
  return [
    ...missed,
    ...strange,
    ...(repeated > 0 ? [`The follower saw ${repeated} changes more than once`] : []),
    ...(missed.length + strange.length + repeated === 0 && !isSameOrder
      ? ['The follower saw changes out of order']
      : []),
  ];
}

function quote(name: string | undefined): string {
  return name === undefined ? 'missing' : `"${name}"`;
}
