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

export class WalCheckpoint {
  readonly #db: DatabaseSync;
  /** Number of pages at the last wait that failed, or 0 if the WAL has started over since. */
  #failedAtPages = 0;

  constructor(db: DatabaseSync) {
    this.#db = db;
    db.exec('PRAGMA wal_autocheckpoint = 0'); // SQLite's own checkpoint would hide a failed fsync
  }

  /** Shortens the WAL if it is long. Beside a reader or on a full disk, it stays longer. Other errors are thrown. */
  runIfLong(): void {
    tolerantly(() => {
      const { log, checkpointed } = this.#run('NOOP');
      if (log < this.#failedAtPages) this.#failedAtPages = 0;
      if (log - checkpointed >= CHECKPOINT_PAGES) this.#run('PASSIVE');
      if (log >= Math.max(WAIT_PAGES, this.#failedAtPages * GROWTH)) {
        const isDone = this.#runAndWait('RESTART', Math.min(MAX_WAIT_MS, (WAIT_MS * log) / WAIT_PAGES));
        this.#failedAtPages = isDone ? 0 : log;
      }
    });
  }

  /**
   * Empties the WAL. Closing the connection would do it as well, but would not report a failure. Beside a reader of another
   * process, the WAL stays.
   */
  empty(): void {
    tolerantly(() => this.#runAndWait('TRUNCATE', MAX_WAIT_MS));
  }

  /** Returns false if some reader used the WAL for all of the time. */
  #runAndWait(mode: 'RESTART' | 'TRUNCATE', waitMs: number): boolean {
    const { timeout } = this.#db.prepare('PRAGMA busy_timeout').get() as { timeout: bigint };
    this.#db.exec(`PRAGMA busy_timeout = ${ATTEMPT_MS}`);
    try {
      const endMs = performance.now() + waitMs;
      for (;;) {
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
