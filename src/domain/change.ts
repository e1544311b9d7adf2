// One numbered change for every create, update and delete, written in the transaction of the write itself.

import { z } from 'zod';
import { PlantStoreError } from './errors.ts';
import { CHANGE_TYPES } from './names.ts';
import { NewPlant } from './plant.ts';
import { Time } from './time.ts';

export const Change = z
  .object({
    seq: z.number().meta({
      type: 'integer',
      format: 'int64',
      description: 'Grows strictly; the ETag of the version it made',
    }),
    type: z.enum(CHANGE_TYPES),
    time: Time,
    plant: NewPlant,
    token: z.string().meta({ description: 'Id of the token that asked for it, or `cli`' }),
  })
  .meta({ id: 'Change' });
export type Change = z.output<typeof Change>;

export interface ChangeLog {
  /**
   * Oldest first, those above `after`, or from the oldest there is. At most `limit`, 100 by default; none is the end.
   * Throws `changes_pruned` when some above `after` are gone, or when the store never gave that number.
   */
  changes(query?: Omit<ChangeQuery, 'maxChars'>): Promise<Change[]>;
  /** All of these and then each new one when it comes, until the signal. Throws `changes_pruned` in the same case. */
  follow(options?: { after?: number | undefined; signal?: AbortSignal | undefined }): AsyncIterable<Change>;
}

export interface ChangeStore extends ChangeLog {
  changes(query?: ChangeQuery): Promise<Change[]>;
  /** Removes the oldest changes, up to the first that is not older. Gives how many. */
  pruneChanges(beforeMs: number): Promise<number>;
}

/** How a store is asked for a page; `maxChars` bounds its texts. */
export interface ChangeQuery {
  after?: number | undefined;
  limit?: number | undefined;
  maxChars?: number | undefined;
}

export function changesPruned(after: number): PlantStoreError {
  return new PlantStoreError(
    'changes_pruned',
    `The change log cannot be read from ${after} on: changes after it are no longer there, or this store never gave ` +
      'that number. Take a new export and resume from the number in its ETag',
  );
}
