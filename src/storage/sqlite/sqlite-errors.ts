// Classifies SQLite errors by their code, never by their text.

import { cannotRead } from '../store-errors.ts';

export type Failure =
  /** The disk is full. The transaction was rolled back and can be retried when space is free. */
  | 'full'
  /** Another process holds the write lock, or memory is short. The transaction was rolled back and can be retried. */
  | 'busy'
  /** The disk or the file is no longer reliable. A failed fsync cannot be retried, so the process must exit. */
  | 'fatal'
  /** Any other error. The transaction was rolled back. */
  | 'bug';

const CORRUPT = 11;
const NOTADB = 26;
const IOERR_SHMSIZE = 4874; // the code of a full disk while the WAL index grows
const FAILURES: Record<number, Failure> = {
  5: 'busy', // BUSY
  6: 'busy', // LOCKED
  7: 'busy', // NOMEM
  8: 'fatal', // READONLY
  10: 'fatal', // IOERR
  [CORRUPT]: 'fatal',
  13: 'full', // FULL
  14: 'fatal', // CANTOPEN
  [NOTADB]: 'fatal',
};

export function failureOf(error: unknown): Failure {
  const code = sqliteCode(error);
  if (code === IOERR_SHMSIZE) return 'full';
  return FAILURES[code & 0xff] ?? 'bug';
}

/** True if the file's content is wrong, as opposed to inaccessible. */
export function isDamage(error: unknown): boolean {
  const primary = sqliteCode(error) & 0xff;
  return primary === CORRUPT || primary === NOTADB;
}

/** Returns SQLite's extended result code, or 0 for any other error. */
function sqliteCode(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0;
}

export type ReadGuard = ReturnType<typeof guardReads>;

/** Returns functions that run reads and convert SQLite errors to store errors. */
export function guardReads(onFatal: (error: Error) => void) {
  return {
    read<T>(query: () => T): T {
      try {
        return query();
      } catch (error) {
        throw toReadError(error);
      }
    },
    readAsync: <T>(query: () => Promise<T>): Promise<T> =>
      query().catch((error) => {
        throw toReadError(error);
      }),
  };

  function toReadError(error: unknown): unknown {
    const failure = failureOf(error);
    if (failure === 'bug') return error; // includes errors that are already store errors
    if (failure === 'fatal') onFatal(error as Error);
    return cannotRead(error);
  }
}
