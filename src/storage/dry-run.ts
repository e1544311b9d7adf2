// The dry run of an import. It compares each plant with the stored one, and with an earlier one of the same file. The
// earlier plants are kept in a temporary SQLite file, because a file can have any length.

import { hash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { unavailable } from '../domain/errors.ts';
import type { ImportResult, NewPlant, Plant } from '../domain/plant.ts';
import type { DryRun } from '../domain/store.ts';
import { createPace } from '../lib/event-loop-turns.ts';
import { idTaken, toError } from './write-rules.ts';

/**
 * Returns for each plant whether the stored plant with its id is the same, or undefined if there is none. The database
 * compares them, because stored plants can be much larger than the file.
 */
type CompareWithStored = (plants: NewPlant[]) => Promise<(boolean | undefined)[]>;

export function createDryRun(compareWithStored: CompareWithStored): DryRun {
  const db = new DatabaseSync(''); // a file without a name, which the system deletes at the end
  db.exec(`
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    CREATE TABLE seen (id INTEGER PRIMARY KEY, digest TEXT NOT NULL)`);
  const findSeen = db.prepare('SELECT digest FROM seen WHERE id = ?');
  const insertSeen = db.prepare('INSERT INTO seen VALUES (?, ?)');
  insertSeen.setReadBigInts(true); // its result has the last id
  let before: Promise<unknown> = Promise.resolve();

  return {
    /** Takes one call after another, so that the first of two plants with one id is the one that comes first. */
    import(plants) {
      const result = before.then(() => compareAll(plants));
      before = result.catch(() => {});
      return result;
    },
    close: () => db.close(),
  };

  async function compareAll(plants: NewPlant[]): Promise<ImportResult> {
    const stored = await compareWithStored(plants);
    const result: ImportResult = { created: 0, replayed: 0, failed: 0, errors: [] };
    const pace = createPace();
    for (const [at, plant] of plants.entries()) {
      await pace();
      const isSame = stored[at] ?? isSameAsSeen(plant);
      if (isSame === undefined) {
        note(plant);
        result.created++;
      } else if (isSame) result.replayed++;
      else {
        result.failed++;
        result.errors.push({ line: at + 1, error: toError(idTaken(plant.id)) });
      }
    }
    return result;
  }

  /** Returns undefined if no earlier plant of the file has the id. */
  function isSameAsSeen(plant: NewPlant): boolean | undefined {
    const seen = findSeen.get(plant.id) as { digest: string } | undefined;
    return seen && seen.digest === digestOf(plant);
  }

  function note(plant: NewPlant): void {
    try {
      insertSeen.run(plant.id, digestOf(plant));
    } catch (error) {
      throw unavailable('The dry run cannot write its temporary file. Free space for temporary files.', error);
    }
  }
}

function digestOf({ name, tag }: Plant): string {
  return hash('sha256', JSON.stringify([name, tag ?? null]), 'base64url').slice(0, 22);
}
