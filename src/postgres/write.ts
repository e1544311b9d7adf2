// A batch of steps → one call of a function of the database → what became of each. Which function does what is said
// in the migrations.

import type { PlantWrite } from '../decide.ts';
import type { Plant } from '../plant.ts';
import type { PlantRow } from '../rows.ts';
import { readNumbers, toArray } from './array.ts';
import { indexWords } from './search.ts';
import type { Row, Statement, Transactions } from './transaction.ts';

/** To be done only if the record is as it was seen: `present`. */
export interface Step {
  write: PlantWrite;
  present: PlantRow | undefined;
  action: { does: 'store'; plant: Plant } | { does: 'delete' } | { does: 'keep' };
}

/** It is done, with this number, or kept; or else the record was another one, and nothing was done. */
export type Outcome = { seq: number } | { kept: true } | { present: PlantRow | undefined };

/** No id may come twice. Throws TransactionError. */
export async function writeSteps({ write }: Transactions, steps: Step[]): Promise<Outcome[]> {
  const isNew = steps[0]?.present === undefined;
  const rows = await write(isNew ? createPlants(steps) : changePlants(steps));
  const outcomes: Outcome[] = steps.map(() => (isNew ? { present: undefined } : { kept: true }));
  for (const row of rows) {
    if (row.n !== null) outcomes[(row.n as number) - 1] = { present: toPresent(row) };
    else if (row.seqs !== null) {
      for (const [at, seq] of readNumbers(row.seqs as string).entries()) if (seq !== undefined) outcomes[at] = { seq };
    }
  }
  return outcomes;
}

function createPlants(steps: Step[]): Statement {
  const added = new IndexEntries();
  const plants = steps.map(({ write: { id }, action }) => {
    const { plant } = action as { plant: Plant };
    added.add(id, indexWords(plant.name, plant.tag));
    return plant;
  });
  return {
    text: 'SELECT * FROM create_plants_1($1, $2, $3, $4, $5, $6, $7)',
    values: [
      toArray(steps.map(({ write }) => write.id)),
      toArray(plants.map(({ name }) => name)),
      toArray(plants.map(({ tag }) => tag ?? null)),
      toArray(steps.map(({ write }) => write.nowMs)),
      toArray(steps.map(({ write }) => write.tokenId)),
      ...added.values(),
    ],
  };
}

function changePlants(steps: Step[]): Statement {
  const removed = new IndexEntries();
  const added = new IndexEntries();
  const after = steps.map(({ write: { id }, action, present }) => {
    const before = present as PlantRow;
    const plant = action.does === 'store' ? action.plant : before;
    if (action.does === 'keep') return plant;
    const old = new Set(indexWords(before.name, before.tag));
    const now = new Set(action.does === 'store' ? indexWords(plant.name, plant.tag) : []);
    removed.add(id, old.difference(now));
    added.add(id, now.difference(old));
    return plant;
  });
  return {
    text: 'SELECT * FROM change_plants_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
    values: [
      toArray(steps.map(({ write }) => write.id)),
      toArray(steps.map(({ present }) => present?.seq ?? null)),
      toArray(steps.map(({ action }) => action.does)),
      toArray(after.map(({ name }) => name)),
      toArray(after.map(({ tag }) => tag ?? null)),
      toArray(steps.map(({ write }) => write.nowMs)),
      toArray(steps.map(({ write }) => write.tokenId)),
      ...removed.values(),
      ...added.values(),
    ],
  };
}

class IndexEntries {
  readonly #words: string[] = [];
  readonly #ids: bigint[] = [];

  add(id: bigint, words: Iterable<string>): void {
    for (const word of words) {
      this.#words.push(word);
      this.#ids.push(id);
    }
  }

  values(): [words: string, ids: string] {
    return [toArray(this.#words), toArray(this.#ids)];
  }
}

function toPresent(row: Row): PlantRow | undefined {
  return row.name === null ? undefined : (row as unknown as PlantRow);
}
