// The words of the published description, and the store that keeps them.
// Every NewPlant that these schemas allow is stored verbatim.

import { z } from 'zod';
import type { PlantStoreError } from './errors.ts';
import type { Filter } from './list-cursor.ts';
import type { Summary } from './plant-summary.ts';
import type { Precondition } from './precondition.ts';
import { Time } from './time.ts';

export const MIN_ID = -(2n ** 63n);
export const MAX_ID = 2n ** 63n - 1n;

const Text = z.string({ error: (issue) => (issue.input === undefined ? 'is missing' : 'must be a string') });

/** As read by json.ts: a number when it is a safe integer, a bigint beyond. The objects below make it a bigint. */
const PlantId = z
  .custom<bigint>(isPlantId, {
    error: ({ input }) => {
      if (input === undefined) return 'is missing';
      return isIntegral(input) ? `must be between ${MIN_ID} and ${MAX_ID}` : 'must be an integer';
    },
  })
  .meta({ type: 'integer', format: 'int64', description: 'Identification number of the plant' });

function isPlantId(id: unknown): boolean {
  return Number.isSafeInteger(id) || (typeof id === 'bigint' && id >= MIN_ID && id <= MAX_ID);
}

/** A double that overflowed was an integer, if one far out of range. */
function isIntegral(id: unknown): boolean {
  return typeof id === 'bigint' || (typeof id === 'number' && (Number.isInteger(id) || Math.abs(id) === Infinity));
}

interface Members {
  id?: bigint | undefined;
  name?: string | undefined;
  tag?: string | null | undefined;
}

/** Checks texts and makes the id a bigint, once for the whole object: a check for each field takes twice as long. */
function finish({ value, issues }: z.core.ParsePayload<Members>): void {
  if (value.id !== undefined) value.id = BigInt(value.id);
  for (const member of ['name', 'tag'] as const) {
    const text = value[member];
    if (typeof text !== 'string') continue;
    const fault = text.includes('\0') ? 'U+0000' : text.isWellFormed() ? undefined : 'a lone surrogate';
    if (fault) issues.push({ code: 'custom', path: [member], message: `must not contain ${fault}`, input: text });
  }
}

const MUST_BE_OBJECT = { error: 'must be an object' };
const PLANT = {
  name: Text.meta({ description: 'Name of the plant', examples: ['Monstera deliciosa'] }),
  tag: Text.optional().meta({ description: 'Tag to specify the type', examples: ['tropical'] }),
};

export const Plant = z.object(PLANT, MUST_BE_OBJECT).check(finish).meta({ id: 'Plant' });
export type Plant = z.output<typeof Plant>;

export const NewPlant = z
  .object({ id: PlantId, ...PLANT }, MUST_BE_OBJECT)
  .check(finish)
  .meta({ id: 'NewPlant' });
export type NewPlant = z.output<typeof NewPlant>;

/** A record as read back: a NewPlant with two more members, so it is also a valid Plant of the published list. */
export const PlantRecord = z
  .object({
    id: PlantId,
    ...PLANT,
    created: Time.meta({ description: 'When it was stored first' }),
    updated: Time.meta({ description: 'When it was changed last' }),
  })
  .meta({ id: 'PlantRecord' });
export type PlantRecord = z.output<typeof PlantRecord>;

/** A merge patch (RFC 7396). */
export const PlantPatch = z
  .object(
    {
      id: PlantId.optional().meta({ description: 'May be there, but may not differ' }),
      name: Text.optional().meta({ description: 'New name' }),
      tag: Text.nullable().optional().meta({ description: 'New tag; null removes it' }),
    },
    MUST_BE_OBJECT,
  )
  .check(finish)
  .meta({ id: 'PlantPatch' });
export type PlantPatch = z.output<typeof PlantPatch>;

export interface Created {
  /** Number of the change that made this version of the record: its ETag. */
  seq: number;
  /** The same plant was there already: nothing was stored. */
  replayed: boolean;
}

export interface Versioned {
  record: PlantRecord;
  seq: number;
}

export interface ListQuery extends Filter {
  /** From 1 to 1,000; 100 by default. */
  limit?: number | undefined;
  /** From the page before, under the same filter. */
  cursor?: string | undefined;
}

export interface Page {
  /** By ascending id. */
  records: PlantRecord[];
  /** Cursor of the next page, if there is one. */
  next?: string | undefined;
}

export interface Author {
  /** Goes into the change log. */
  tokenId: string;
}

export interface ImportResult {
  created: number;
  /** Those that were there already, the same. */
  replayed: number;
  failed: number;
  errors: ImportError[];
}

export interface ImportError {
  /** Counted from 1. */
  line: number;
  error: PlantStoreError;
}

/** All plants at one moment, by ascending id. Whoever does not read it to the end breaks off or closes it. */
export interface Snapshot {
  /** Number of the last change that it holds: with those after it, a copy stays up to date. */
  seq: number;
  plants: AsyncIterable<NewPlant>;
  /** How many they are, where that can be told. It takes a while. */
  count?(): Promise<number>;
  close(): void;
}

/**
 * A write resolves when it is safe on disk, and throws `unavailable` when it cannot be done now.
 * One that would change nothing changes nothing: no new version, no change in the log.
 */
export interface PlantStore {
  /** Throws `id_taken` when the id belongs to a different plant. */
  create(plant: NewPlant, by: Author): Promise<Created>;
  /** Throws `not_found`. */
  get(id: bigint): Promise<Versioned>;
  /** Throws `bad_parameter` when the cursor is not one of this filter. */
  list(query?: ListQuery): Promise<Page>;
  /** Replaces or creates. This and the next two throw `condition_failed` when their condition does not hold. */
  put(id: bigint, plant: Plant, by: Author & Precondition): Promise<Versioned>;
  /** Throws `not_found`, and `not_valid` when the patch has another id. */
  patch(id: bigint, patch: PlantPatch, by: Author & Precondition): Promise<Versioned>;
  /** Throws `not_found`. */
  delete(id: bigint, by: Author & Precondition): Promise<void>;
  /** Creates each as `create` would; the n-th plant is line n. One that is refused does not stop the others. */
  import(plants: NewPlant[], by: Author): Promise<ImportResult>;
  export(): Promise<Snapshot>;
  /** Of one moment. It takes a while where there is much to count. */
  summary(): Promise<Summary>;
}
