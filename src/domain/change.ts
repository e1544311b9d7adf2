// The change log: each create, update and delete adds one numbered change, in the same transaction as the write.

import { z } from 'zod';
import { DURATION_FORM, DURATION_PATTERN, parseDuration } from '../lib/duration.ts';
import { PlantStoreError } from './errors.ts';
import { CHANGE_TYPES, type ChangeOrder, type ChangeType } from './names.ts';
import { NewPlant } from './plant.ts';
import { Time } from './time.ts';
import { strictObjectError } from './validate.ts';

/** The number of a change in a response. */
export const Seq = z.number().meta({ type: 'integer', format: 'int64', examples: [1042] });

export const Change = z
  .object({
    seq: z.number().meta({
      type: 'integer',
      format: 'int64',
      description:
        'Sequence number of the change. Numbers increase strictly. It is also the `ETag` of the version that the change created.',
      examples: [1042],
    }),
    type: z.enum(CHANGE_TYPES).meta({ description: 'The kind of change', examples: ['plant.created'] }),
    time: Time.meta({ description: 'Time of the change (RFC 3339, UTC, with milliseconds)' }),
    plant: NewPlant.meta({
      description: 'The plant after the change. After a delete, the plant as it was before.',
    }),
    token: z.string().meta({
      description: 'Id of the token that made the change, or `cli` for a change made on the command line',
      examples: ['tok_I46W9MwWENQq'],
    }),
    tokenName: z
      .string()
      .optional()
      .meta({
        description: 'Name of the token. Only in pages and histories, and only if the store has the token.',
        examples: ['shop'],
      }),
  })
  .meta({ id: 'Change', description: 'A create, update or delete of a plant' });
export type Change = z.output<typeof Change>;

/** The body of a request to prune the change log. */
export const Prune = z
  .strictObject(
    {
      olderThan: z
        .string({ error: ({ input }) => (input === undefined ? 'is missing' : `must be ${DURATION_FORM}`) })
        .refine((text) => parseDuration(text) !== undefined, { error: `must be ${DURATION_FORM}` })
        .meta({
          description:
            'Age of the changes to remove, such as `30m`, `12h`, `90d` or `4w`, by the server clock. At most 100 years.',
          pattern: `^${DURATION_PATTERN}$`,
          examples: ['90d'],
        }),
    },
    { error: strictObjectError },
  )
  .meta({ id: 'Prune', description: 'The changes to remove from the change log' });
export type Prune = z.output<typeof Prune>;

export const Pruned = z
  .object({ pruned: z.int().meta({ description: 'Number of changes that were removed', examples: [1200] }) })
  .meta({ id: 'Pruned', description: 'The result of a prune' });
export type Pruned = z.output<typeof Pruned>;

export interface ChangeLog {
  /**
   * Returns the changes after number `after`, or from the oldest stored change, oldest first.
   * A page holds at most `limit` changes (100 by default). An empty page marks the end.
   * Throws `changes_pruned` if changes after `after` were pruned, or if the store never issued that number.
   */
  changes(query?: Omit<ChangeQuery, 'maxChars'>): Promise<Change[]>;
  /**
   * Returns a filtered page. It scans a limited number of changes, so the page can be short or empty although `next` is
   * set. Throws `changes_pruned` as `changes` does.
   */
  changePage(query: ChangePageQuery): Promise<ChangePage<number>>;
  /** Returns the changes of a plant, newest first, back to its creation or the last prune. Throws `not_found`. */
  history(plantId: bigint, query?: HistoryQuery): Promise<ChangePage<string>>;
  /** Returns the number of the newest change, also if it was pruned, or 0. */
  lastSeq(): Promise<number>;
}

export interface ChangeStore extends ChangeLog {
  changes(query?: ChangeQuery): Promise<Change[]>;
  /**
   * Yields the same changes in pages, then new changes, until `signal` aborts. A page is empty if nothing has changed for
   * a moment. Throws `changes_pruned` in the same cases.
   */
  follow(options?: { after?: number | undefined; signal?: AbortSignal | undefined }): AsyncIterable<Change[]>;
  /** Removes the oldest changes up to the first one that is not older than `beforeMs`. Returns the number removed. */
  pruneChanges(beforeMs: number): Promise<number>;
}

/** Selects a page of changes by their properties. */
export interface ChangePageQuery {
  /** Only changes after this number. */
  after?: number | undefined;
  /** Only changes before this number. */
  before?: number | undefined;
  limit?: number | undefined;
  order?: ChangeOrder | undefined;
  type?: ChangeType | undefined;
  /** Id of the token that made the change. */
  token?: string | undefined;
  sinceMs?: number | undefined;
  untilMs?: number | undefined;
}

/** Selects a page of the history of a plant. */
export interface HistoryQuery {
  limit?: number | undefined;
  cursor?: string | undefined;
}

/** A page of changes. `next` continues the page, and is undefined at the end. */
export interface ChangePage<Next> {
  changes: Change[];
  next?: Next | undefined;
}

/** Selects a page of changes. `maxChars` limits the total length of its texts. */
export interface ChangeQuery {
  after?: number | undefined;
  limit?: number | undefined;
  maxChars?: number | undefined;
}

export function changesPruned(after: number): PlantStoreError {
  return new PlantStoreError(
    'changes_pruned',
    `The change log cannot be read after change ${after}. The changes after it were pruned, or this store never issued that ` +
      'number. Take a new export and resume from the number in its ETag.',
  );
}

/** Removes the changes that are older than a duration. Returns the number removed. */
export async function prune(store: ChangeStore, { olderThan }: Prune, nowMs: number): Promise<Pruned> {
  return { pruned: await store.pruneChanges(nowMs - (parseDuration(olderThan) ?? Number.POSITIVE_INFINITY)) };
}
