// Keeps the WAL short: copies its pages into the database file, after which SQLite writes the WAL from its start again.

import type { DatabaseSync } from 'node:sqlite';
import { failureOf } from './sqlite-errors.ts';

/** Number of pages at which a checkpoint copies them into the database file. */
const CHECKPOINT_PAGES = 1000;
/**
 * Number of pages at which a checkpoint waits for readers. SQLite starts the WAL over only at a moment at which no
 * reader uses it. Beside concurrent searches, there may never be such a moment.
 */
const WAIT_PAGES = 4 * CHECKPOINT_PAGES;
/**
 * Time for which a checkpoint of WAIT_PAGES waits for readers, and writes for the checkpoint. A longer WAL permits a
 * proportionally longer wait. A wait succeeds if it is twice as long as each read.
 */
const WAIT_MS = 100;
/** Maximum time for which a checkpoint waits for readers. It does not help beside an export, which reads for longer. */
const MAX_WAIT_MS = 500;
/**
 * Time for which a single attempt waits. SQLite waits for the locks of old readers, which new readers can take over, so
 * one long attempt can fail beside short reads.
 */
const ATTEMPT_MS = 10;
/** Growth of the WAL after a wait that failed until the next one, so that a long export delays few writes. */
const GROWTH = 1.5;
/** Number of pages from which a wait ends the exports in progress, and the same as a share of a larger database. */
const MAX_PAGES = 32_768;
const MAX_SHARE = 1 / 4;
export const MAX_WAL_BYTES = MAX_PAGES * 4096;
/** Size to which SQLite cuts a WAL file when the WAL starts over. */
const KEPT_BYTES = 64 * 1024 * 1024;

export class WalCheckpoint {
  readonly #db: DatabaseSync;
  readonly #endExports: () => void;
  readonly #maxPages: number;
  /** Number of pages at the last wait that failed, or 0 if the WAL has started over since. */
  #failedAtPages = 0;

  /** `endExports` must end all exports within 300 ms. */
  constructor(db: DatabaseSync, endExports: () => void = () => {}, maxPages = MAX_PAGES) {
    this.#db = db;
    this.#endExports = endExports;
    this.#maxPages = maxPages;
    db.exec(`PRAGMA journal_size_limit = ${KEPT_BYTES}`);
    db.exec('PRAGMA wal_autocheckpoint = 0'); // SQLite's own checkpoint would hide a failed fsync
  }

  /** Shortens the WAL if it is long. Beside a reader or on a full disk, it stays longer. Other errors are thrown. */
  runIfLong(): void {
    tolerantly(() => {
      const { log, checkpointed } = this.#run('NOOP');
      if (log < this.#failedAtPages) this.#failedAtPages = 0;
      if (log - checkpointed >= CHECKPOINT_PAGES) this.#run('PASSIVE');
      if (log < WAIT_PAGES) return;
      const maxPages = this.#findMaxPages();
      const nextPages = this.#failedAtPages * GROWTH;
      if (log < (this.#failedAtPages < maxPages ? Math.min(nextPages, maxPages) : nextPages)) return;
      const waitMs = Math.min(MAX_WAIT_MS, (WAIT_MS * log) / WAIT_PAGES);
      const isDone = this.#runAndWait('RESTART', waitMs, log >= maxPages ? this.#endExports : undefined);
      this.#failedAtPages = isDone ? 0 : log;
    });
  }

  #findMaxPages(): number {
    const { page_count } = this.#db.prepare('PRAGMA page_count').get() as { page_count: bigint };
    return Math.max(this.#maxPages, Number(page_count) * MAX_SHARE);
  }

  /**
   * Empties the WAL. Closing the connection would do it as well, but would not report a failure. Beside a reader of another
   * process, the WAL stays.
   */
  empty(): void {
    tolerantly(() => this.#runAndWait('TRUNCATE', MAX_WAIT_MS));
  }

  /** Returns false if some reader used the WAL for all of the time. Calls `onAttempt` before each attempt. */
  #runAndWait(mode: 'RESTART' | 'TRUNCATE', waitMs: number, onAttempt?: () => void): boolean {
    const { timeout } = this.#db.prepare('PRAGMA busy_timeout').get() as { timeout: bigint };
    this.#db.exec(`PRAGMA busy_timeout = ${ATTEMPT_MS}`);
    try {
      const endMs = performance.now() + waitMs;
      for (;;) {
        onAttempt?.(); // not only once: an export that has begun since then uses the WAL as well
        const startMs = performance.now();
        if (!this.#run(mode).busy) return true;
        if (performance.now() >= endMs) return false;
        sleepSync(ATTEMPT_MS - (performance.now() - startMs)); // SQLite waits for readers, not for another checkpoint
      }
    } finally {
      this.#db.exec(`PRAGMA busy_timeout = ${timeout}`);
    }
  }

  #run(mode: 'NOOP' | 'PASSIVE' | 'RESTART' | 'TRUNCATE'): { busy: boolean; log: number; checkpointed: number } {
    const row = this.#db.prepare(`PRAGMA wal_checkpoint(${mode})`).get() as Record<string, bigint>;
    return { busy: row.busy === 1n, log: Number(row.log), checkpointed: Number(row.checkpointed) };
  }
}

function sleepSync(timeMs: number): void {
  if (timeMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, timeMs);
}

function tolerantly(checkpoint: () => void): void {
  try {
    checkpoint();
  } catch (error) {
    if (failureOf(error) !== 'full' && failureOf(error) !== 'busy') throw error;
  }
}
