// Executes a batch of steps with one call of a database function, and returns the outcome of each step. The migrations
// document these functions.

import type { Plant } from '../../domain/plant.ts';
import { createPace } from '../../lib/event-loop-turns.ts';
import type { PlantRow, PlantRowWithId } from '../row-mapping.ts';
import type { PlantWrite } from '../write-rules.ts';
import { sortNameOf } from './name-keys.ts';
import { readNumbers, toArray, toBigints } from './pg-array.ts';
import { plantsToLock } from './plants-read.ts';
import type { Calls } from './qualified-names.ts';
import { indexKeys } from './search.ts';
import type { Statement } from './statement.ts';
import type { Transactions } from './transaction.ts';

/** A write that takes effect only if the stored record is still `present`. */
export interface Step {
  write: PlantWrite;
  present: PlantRow | undefined;
  action: { does: 'store'; plant: Plant } | { does: 'delete' } | { does: 'keep' };
}

/** Outcome of a step: its change number, or no change needed. Otherwise the record differed and nothing was changed. */
export type Outcome = { seq: number } | { kept: true } | { present: PlantRow | undefined };

/** The change numbers of all completed steps, or the record that conflicts with step `n`, counted from 1. */
type WrittenRow = { seqs: string | null; n: number | null } & (PlantRow | { name: null });

/** Executes steps with distinct ids, all with or all without `present`. Throws TransactionError. */
export async function writeSteps({ write, names: { calls } }: Transactions, steps: Step[]): Promise<Outcome[]> {
  const isNew = steps[0]?.present === undefined;
  return toOutcomes(await write(await (isNew ? createPlants(calls, steps) : changePlants(calls, steps))), steps, isNew);
}

/**
 * Locks the stored records with these ids, and executes the steps that `toSteps` returns for them. No other write to
 * them can come between. Returns the outcome of each step. Throws TransactionError.
 */
export async function writeLockedSteps(
  { writeLocked, names: { calls, tables } }: Transactions,
  ids: bigint[],
  toSteps: (rows: PlantRowWithId[]) => Step[],
): Promise<Outcome[]> {
  let steps: Step[] = [];
  const rows = await writeLocked<PlantRowWithId, WrittenRow>(plantsToLock(tables, ids), async (locked) => {
    steps = toSteps(locked);
    return steps.length > 0 ? changePlants(calls, steps) : undefined;
  });
  return toOutcomes(rows, steps, false);
}

function toOutcomes(rows: WrittenRow[], steps: Step[], isNew: boolean): Outcome[] {
  const outcomes: Outcome[] = steps.map(() => (isNew ? { present: undefined } : { kept: true }));
  for (const row of rows) {
    if (row.n !== null) outcomes[row.n - 1] = { present: row.name === null ? undefined : (row as PlantRow) };
    else if (row.seqs !== null) {
      for (const [at, seq] of readNumbers(row.seqs).entries()) if (seq !== undefined) outcomes[at] = { seq };
    }
  }
  return outcomes;
}

async function createPlants(calls: Calls, steps: Step[]): Promise<Statement> {
  const plants = steps.map(({ action }) => (action as { plant: Plant }).plant);
  const added: Indexed[] = [];
  const pace = createPace();
  for (const [at, { write }] of steps.entries()) {
    await pace(); // folding long names takes time
    added.push({ id: write.id, words: indexKeys(plants[at] as Plant) });
  }
  return {
    text: `SELECT * FROM ${calls.create_plants_3}`,
    values: [
      toBigints(steps.map(({ write }) => write.id)),
      toArray(plants.map(({ name }) => name)),
      toArray(plants.map(({ name }) => sortNameOf(name))),
      toArray(plants.map(({ tag }) => tag ?? null)),
      toBigints(steps.map(({ write }) => write.nowMs)),
      toArray(steps.map(({ write }) => write.tokenId)),
      ...indexEntries(added),
    ],
  };
}

async function changePlants(calls: Calls, steps: Step[]): Promise<Statement> {
  const removed: Indexed[] = [];
  const added: Indexed[] = [];
  const after: (Plant | PlantRow)[] = [];
  const pace = createPace();
  for (const { write, action, present } of steps) {
    await pace();
    const { id } = write;
    const before = present as PlantRow;
    after.push(action.does === 'store' ? action.plant : before);
    if (action.does === 'keep') continue;
    const old = new Set(indexKeys(before));
    const now = new Set(action.does === 'store' ? indexKeys(action.plant) : []);
    removed.push({ id, words: [...old.difference(now)] });
    added.push({ id, words: [...now.difference(old)] });
  }
  return {
    text: `SELECT * FROM ${calls.change_plants_3}`,
    values: [
      toBigints(steps.map(({ write }) => write.id)),
      toBigints(steps.map(({ present }) => (present as PlantRow).seq)),
      toArray(steps.map(({ action }) => action.does)),
      toArray(after.map(({ name }) => name)),
      toArray(after.map(({ name }) => sortNameOf(name))),
      toArray(after.map(({ tag }) => tag ?? null)),
      toBigints(steps.map(({ write }) => write.nowMs)),
      toArray(steps.map(({ write }) => write.tokenId)),
      ...indexEntries(removed),
      ...indexEntries(added),
    ],
  };
}

type Indexed = { id: bigint; words: bigint[] };

/** Returns the index entries by ascending id and word, as a list of words and a list of ids. */
export function indexEntries(plants: Indexed[]): [words: Buffer, ids: Buffer] {
  const [words, ids]: [bigint[], bigint[]] = [[], []];
  for (const plant of plants.sort((a, b) => (a.id < b.id ? -1 : 1))) {
    for (const word of plant.words.sort((a, b) => (a < b ? -1 : 1))) {
      words.push(word);
      ids.push(plant.id);
    }
  }
  return [toBigints(words), toBigints(ids)];
}
