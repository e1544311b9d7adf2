// The change log for many readers at different places in it: those at the same place share one read, and only so many
// reads are under way.

import type { Change, ChangeStore } from '../domain/change.ts';
import { PlantStoreError, unavailable } from '../domain/errors.ts';
import { createSemaphore } from '../lib/semaphore.ts';

/** At once, for one reader. */
const CHANGES_AT_ONCE = 50;
const CHARS_AT_ONCE = 16 * 1024;
/** Reads of the database: the others are for those who wait for an answer. */
const READS_AT_ONCE = 2;
const READ_WITHIN_MS = 60_000;
const MAX_KEPT_PAGES = 100;

export interface ChangeLogReader {
  /** What comes after this change. Throws `changes_pruned`. */
  page(after: number): Promise<Change[]>;
  /** Undefined when it is gone. */
  one(seq: number): Promise<Change | undefined>;
  /** The change up to which all are gone: the last one there was, if there is none left. */
  lastGone(lastSeq: number): Promise<number>;
  /** There may be more by now. */
  forget(): void;
}

export function createChangeLogReader(store: ChangeStore): ChangeLogReader {
  const pages = new Map<number, Promise<Change[]>>();
  const runBounded = createSemaphore({
    maxConcurrent: READS_AT_ONCE,
    maxQueued: Number.POSITIVE_INFINITY,
    waitMs: READ_WITHIN_MS,
    tooBusy: () => unavailable('The change log cannot be read in time'),
  });

  return {
    page(after) {
      const known = pages.get(after);
      if (known) return known;
      if (pages.size >= MAX_KEPT_PAGES) pages.clear();
      const page = runBounded(() => store.changes({ after, limit: CHANGES_AT_ONCE, maxChars: CHARS_AT_ONCE }));
      pages.set(after, page);
      page.catch(() => pages.delete(after));
      return page;
    },
    async one(seq) {
      try {
        const [change] = await runBounded(() => store.changes({ after: seq - 1, limit: 1 }));
        return change?.seq === seq ? change : undefined;
      } catch (error) {
        if (isPruned(error)) return undefined;
        throw error;
      }
    },
    async lastGone(lastSeq) {
      const [first] = await runBounded(() => store.changes({ limit: 1 }));
      return first ? first.seq - 1 : lastSeq;
    },
    forget: () => pages.clear(),
  };
}

export function isPruned(error: unknown): boolean {
  return error instanceof PlantStoreError && error.code === 'changes_pruned';
}
