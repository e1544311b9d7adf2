// The words of the published description, and the store that keeps them.
// Every NewPlant that these schemas allow is stored verbatim.

import { z } from 'zod';

const MIN_ID = -(2n ** 63n);
const MAX_ID = 2n ** 63n - 1n;

/** Text that a UTF-8 database can hold. */
const Text = z
  .string({ error: (issue) => (issue.input === undefined ? 'is missing' : 'must be a string') })
  .refine((text) => !text.includes('\0'), 'must not contain U+0000')
  .refine((text) => text.isWellFormed(), 'must not contain a lone surrogate');

/** As read by json.ts: a number when it is a safe integer, a bigint beyond. */
export const PlantId = z
  .custom<number | bigint>(isIntegral, {
    error: (issue) => (issue.input === undefined ? 'is missing' : 'must be an integer'),
  })
  .refine((id) => id >= MIN_ID && id <= MAX_ID, `must be between ${MIN_ID} and ${MAX_ID}`)
  .transform((id) => BigInt(id))
  .meta({ type: 'integer', format: 'int64', description: 'Identification number of the plant' });

/** A double that overflowed was an integer, if one far out of range. */
function isIntegral(id: unknown): boolean {
  return typeof id === 'bigint' || (typeof id === 'number' && (Number.isInteger(id) || Math.abs(id) === Infinity));
}

const MUST_BE_OBJECT = { error: 'must be an object' };

export const Plant = z
  .object(
    {
      name: Text.meta({ description: 'Name of the plant' }),
      tag: Text.optional().meta({ description: 'Tag to specify the type' }),
    },
    MUST_BE_OBJECT,
  )
  .meta({ id: 'Plant' });
export type Plant = z.output<typeof Plant>;

export const NewPlant = z.object({ id: PlantId, ...Plant.shape }, MUST_BE_OBJECT).meta({ id: 'NewPlant' });
export type NewPlant = z.output<typeof NewPlant>;

export interface Created {
  /** Number of the change that made this version of the record. */
  seq: number;
  /** The same plant was there already: nothing was stored. */
  replayed: boolean;
}

export interface PlantStore {
  /**
   * Resolves when the plant is safe on disk. `tokenId` goes into the change log.
   * Throws `id_taken` when the id belongs to a different plant, `unavailable` when it cannot be stored now.
   */
  create(plant: NewPlant, tokenId: string): Promise<Created>;
}
