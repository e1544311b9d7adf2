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
/** Maximum time for which a checkpoint waits for readers, and writes for the checkpoint. */
const MAX_WAIT_MS = 100;
/** Growth of the WAL between two checkpoints that wait, so that a long export delays few writes. */
const GROWTH = 1.25;

export class WalCheckpoint {
  readonly #db: DatabaseSync;
  #waitAtPages = WAIT_PAGES;

  constructor(db: DatabaseSync) {
    this.#db = db;
    db.exec('PRAGMA wal_autocheckpoint = 0'); // SQLite's own checkpoint would hide a failed fsync
  }

  /** Shortens the WAL if it is long. Beside a reader or on a full disk, it stays longer. Other errors are thrown. */
  runIfLong(): void {
    const { log, checkpointed } = this.#run('NOOP');
    if (log - checkpointed >= CHECKPOINT_PAGES) tolerantly(() => this.#run('PASSIVE'));
    if (log >= this.#waitAtPages) tolerantly(() => this.#runAndWait(log));
  }

  /** Empties the WAL. Closing the connection would do it as well, but would not report a failure. */
  empty(): void {
    tolerantly(() => this.#run('TRUNCATE'));
  }

  #runAndWait(log: number): void {
    const { timeout } = this.#db.prepare('PRAGMA busy_timeout').get() as { timeout: bigint };
    this.#db.exec(`PRAGMA busy_timeout = ${MAX_WAIT_MS}`);
    try {
      const { busy } = this.#run('RESTART');
      this.#waitAtPages = busy ? log * GROWTH : WAIT_PAGES;
    } finally {
      this.#db.exec(`PRAGMA busy_timeout = ${timeout}`);
    }
  }

  #run(mode: 'NOOP' | 'PASSIVE' | 'RESTART' | 'TRUNCATE'): { busy: boolean; log: number; checkpointed: number } {
    const row = this.#db.prepare(`PRAGMA wal_checkpoint(${mode})`).get() as Record<string, bigint>;
    return { busy: row.busy === 1n, log: Number(row.log), checkpointed: Number(row.checkpointed) };
  }
}

function tolerantly(checkpoint: () => void): void {
  try {
    checkpoint();
  } catch (error) {
    if (failureOf(error) !== 'full' && failureOf(error) !== 'busy') throw error;
  }
}
