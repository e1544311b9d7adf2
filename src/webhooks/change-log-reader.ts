// Reads the change log for many webhooks. Webhooks at the same position share one read.

import type { Change, ChangeStore } from '../domain/change.ts';
import { PlantStoreError, unavailable } from '../domain/errors.ts';
import { createSemaphore } from '../lib/semaphore.ts';

const MAX_PAGE_CHANGES = 50;
const MAX_PAGE_CHARS = 16 * 1024;
/** Maximum number of concurrent reads. The other connections remain available to clients. */
const MAX_READS = 2;
const READ_TIMEOUT_MS = 60_000;
const MAX_KEPT_PAGES = 100;

/** Reads pages of the change log and keeps up to 100 of them for other webhooks. */
export class ChangeLogReader {
  /** Number of the newest known change. */
  lastSeq = 0;
  /** Increases with each `refresh`. */
  version = 0;
  private readonly store: ChangeStore;
  private readonly pages = new Map<number, Promise<Change[]>>();
  private readonly runBounded = createSemaphore({
    maxConcurrent: MAX_READS,
    maxQueued: Number.POSITIVE_INFINITY,
    waitMs: READ_TIMEOUT_MS,
    tooBusy: () => unavailable('Reading the change log timed out'),
  });

  constructor(store: ChangeStore) {
    this.store = store;
  }

  /** Records the number of a new change. */
  noteChange(seq: number): void {
    this.lastSeq = Math.max(this.lastSeq, seq);
  }

  /** Discards the pages that were read, because new changes may exist. */
  refresh(): void {
    this.version++;
    this.pages.clear();
  }

  /** Returns the changes that follow this one. Throws `changes_pruned`. */
  page(after: number): Promise<Change[]> {
    const known = this.pages.get(after);
    if (known) return known;
    if (this.pages.size >= MAX_KEPT_PAGES) this.pages.clear();
    const query = { after, limit: MAX_PAGE_CHANGES, maxChars: MAX_PAGE_CHARS };
    const page = this.runBounded(() => this.store.changes(query));
    this.pages.set(after, page);
    page.catch(() => this.pages.delete(after));
    return page;
  }

  /** Returns a change, or undefined if it was pruned. */
  async find(seq: number): Promise<Change | undefined> {
    try {
      const [change] = await this.runBounded(() => this.store.changes({ after: seq - 1, limit: 1 }));
      return change?.seq === seq ? change : undefined;
    } catch (error) {
      if (isPruned(error)) return undefined;
      throw error;
    }
  }

  /** Returns the number of the last change that was pruned. */
  async lastPruned(): Promise<number> {
    const [first] = await this.runBounded(() => this.store.changes({ limit: 1 }));
    return first ? first.seq - 1 : this.lastSeq;
  }
}

/** True if the error is `changes_pruned`. */
export function isPruned(error: unknown): boolean {
  return error instanceof PlantStoreError && error.code === 'changes_pruned';
}
