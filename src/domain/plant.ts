// The schemas of the published description, and the store of plants. The store keeps every NewPlant that these
// schemas allow verbatim.

import { z } from 'zod';
import type { Requester } from '../lib/semaphore.ts';
import type { PlantStoreError } from './errors.ts';
import type { Filter, SortedFilter } from './list-cursor.ts';
import type { Summary } from './plant-summary.ts';
import type { Precondition } from './precondition.ts';
import { Time } from './time.ts';

export const MIN_ID = -(2n ** 63n);
export const MAX_ID = 2n ** 63n - 1n;

const Text = z.string({ error: (issue) => (issue.input === undefined ? 'is missing' : 'must be a string') });

/**
 * An id as exact-json.ts parses it: a number if it is a safe integer, otherwise a bigint. `finish` makes it a bigint.
 */
const PlantId = z
  .custom<bigint>(isPlantId, {
    error: ({ input }) => {
      if (input === undefined) return 'is missing';
      return isIntegral(input) ? `must be between ${MIN_ID} and ${MAX_ID}` : 'must be an integer';
    },
  })
  .meta({
    type: 'integer',
    format: 'int64',
    description:
      'Identification number of the plant. It has 64 bits: languages with 53-bit numbers, such as JavaScript, must parse it as a big integer.',
    examples: [7],
  });

function isPlantId(id: unknown): boolean {
  return Number.isSafeInteger(id) || (typeof id === 'bigint' && id >= MIN_ID && id <= MAX_ID);
}

/** True for any integer. An infinite double counts: it was an integer far out of range. */
function isIntegral(id: unknown): boolean {
  return typeof id === 'bigint' || (typeof id === 'number' && (Number.isInteger(id) || Math.abs(id) === Infinity));
}

interface Fields {
  id?: bigint | undefined;
  name?: string | undefined;
  tag?: string | null | undefined;
}

/** Checks the texts and makes the id a bigint. One check per object takes half the time of one check per field. */
function finish({ value, issues }: z.core.ParsePayload<Fields>): void {
  if (value.id !== undefined) value.id = BigInt(value.id);
  for (const field of ['name', 'tag'] as const) {
    const text = value[field];
    if (typeof text !== 'string') continue;
    const fault = text.includes('\0') ? 'U+0000' : text.isWellFormed() ? undefined : 'a lone surrogate';
    if (fault) issues.push({ code: 'custom', path: [field], message: `must not contain ${fault}`, input: text });
  }
}

const MUST_BE_OBJECT = { error: 'must be an object' };
const PLANT = {
  name: Text.meta({ description: 'Name of the plant', examples: ['Monstera deliciosa'] }),
  tag: Text.optional().meta({ description: 'Tag to specify the type', examples: ['tropical'] }),
};

export const Plant = z
  .object(PLANT, MUST_BE_OBJECT)
  .check(finish)
  .meta({ id: 'Plant', description: 'A plant without its id' });
export type Plant = z.output<typeof Plant>;

export const NewPlant = z
  .object({ id: PlantId, ...PLANT }, MUST_BE_OBJECT)
  .check(finish)
  .meta({ id: 'NewPlant', description: 'A plant with the id that the client chooses' });
export type NewPlant = z.output<typeof NewPlant>;

/** A stored record: a NewPlant with two more fields, so it is also a valid Plant in the published list. */
export const PlantRecord = z
  .object({
    id: PlantId,
    ...PLANT,
    created: Time.meta({ description: 'Time at which the record was created (RFC 3339, UTC, with milliseconds)' }),
    updated: Time.meta({ description: 'Time of the last change (RFC 3339, UTC, with milliseconds)' }),
  })
  .meta({ id: 'PlantRecord', description: 'A stored plant' });
export type PlantRecord = z.output<typeof PlantRecord>;

/** A merge patch (RFC 7396). */
export const PlantPatch = z
  .object(
    {
      id: PlantId.optional().meta({ description: 'Optional. If present, it must equal the id in the path.' }),
      name: Text.optional().meta({
        description: 'The new name. Omit it to keep the name.',
        examples: ['Monstera deliciosa'],
      }),
      tag: Text.nullable()
        .optional()
        .meta({ description: 'The new tag. `null` removes the tag. Omit it to keep the tag.', examples: ['rare'] }),
    },
    MUST_BE_OBJECT,
  )
  .check(finish)
  .meta({ id: 'PlantPatch', description: 'The fields to change', examples: [{ tag: 'rare' }] });
export type PlantPatch = z.output<typeof PlantPatch>;

export interface Created {
  /** Number of the change that created this version of the record, used as its ETag. */
  seq: number;
  /** True if the same plant already existed and nothing was stored. */
  replayed: boolean;
}

export interface Versioned {
  record: PlantRecord;
  seq: number;
}

export interface ListQuery extends SortedFilter {
  /** Maximum number of records: 1 to 1,000, by default 100. */
  limit?: number | undefined;
  /** The cursor of the previous page, which must have the same filter and sort. */
  cursor?: string | undefined;
  /** Number of plants to skip, at most 2^53 - 1. It cannot be combined with a cursor. */
  offset?: number | undefined;
}

export interface Page {
  /** Records in the order of the sort. */
  records: PlantRecord[];
  /** Cursor of the next page. Undefined on the last page. */
  next?: string | undefined;
}

/** A number of plants. `isMore` is true if a filter matches more than `plants`, which is then MAX_COUNTED. */
export interface PlantCount {
  plants: number;
  isMore: boolean;
}

export interface Author {
  /** Id of the token, recorded in the change log. */
  tokenId: string;
}

export interface ImportResult {
  created: number;
  /** Number of plants that already existed with the same content. */
  replayed: number;
  failed: number;
  errors: ImportError[];
}

export interface ImportError {
  /** Line number, starting at 1. */
  line: number;
  error: PlantStoreError;
}

/**
 * A consistent snapshot of all plants, in ascending order of id. A caller that stops early must break the loop or close
 * it.
 */
export interface Snapshot {
  /** Number of the last change in the snapshot. The changes after it keep a copy up to date. */
  seq: number;
  plants: AsyncIterable<NewPlant>;
  /** Counts the plants, if the store supports it. Counting can be slow. */
  count?(): Promise<number>;
  close(): void;
}

/**
 * A store of plants. Writes resolve once they are durable, and throw `unavailable` if the store cannot write now.
 * A write that leaves the record the same creates no new version and no change in the change log.
 */
export interface PlantStore {
  /** Throws `id_taken` if the id belongs to a different plant. */
  create(plant: NewPlant, by: Author): Promise<Created>;
  /** Throws `not_found`. */
  get(id: bigint): Promise<Versioned>;
  /**
   * Throws `bad_parameter` if the cursor belongs to another filter or sort, if the query has both a cursor and an
   * offset, or if a filter with a sort other than `id` matches more than MAX_SORTED plants.
   */
  list(query?: ListQuery, requester?: Requester): Promise<Page>;
  /** Counts the plants that match. Without a filter, the count is always exact and takes no longer for more plants. */
  count(filter?: Filter, requester?: Requester): Promise<PlantCount>;
  /** Replaces or creates a plant. It and the next two methods throw `condition_failed` if a precondition fails. */
  put(id: bigint, plant: Plant, by: Author & Precondition): Promise<Versioned>;
  /** Throws `not_found`, and `not_valid` if the patch has a different id. */
  patch(id: bigint, patch: PlantPatch, by: Author & Precondition): Promise<Versioned>;
  /** Throws `not_found`. */
  delete(id: bigint, by: Author & Precondition): Promise<void>;
  /** Creates each plant as `create` does. The n-th plant is line n. A rejected plant does not stop the others. */
  import(plants: NewPlant[], by: Author): Promise<ImportResult>;
  export(): Promise<Snapshot>;
  /** Returns counts from one consistent snapshot. Counting a large store can be slow. */
  summary(): Promise<Summary>;
}
