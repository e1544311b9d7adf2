// What an SQLite error means for us, by its code and never by its text.

import { cannotRead } from '../write-limits.ts';

export type Failure =
  /** No room: rolled back, and worth another try when there is room. */
  | 'full'
  /** Another process holds the write lock, or memory is short: rolled back, try again. */
  | 'busy'
  /** The disk or the file can no longer be trusted. A failed fsync cannot be retried: the process must end. */
  | 'fatal'
  /** Nothing we know: rolled back. */
  | 'bug';

const CORRUPT = 11;
const NOTADB = 26;
const IOERR_SHMSIZE = 4874; // how a full disk shows while the WAL index grows
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

/** The bytes are wrong, as opposed to out of reach. */
export function isDamage(error: unknown): boolean {
  const primary = sqliteCode(error) & 0xff;
  return primary === CORRUPT || primary === NOTADB;
}

/** SQLite's extended result code, 0 for any other error. */
function sqliteCode(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0;
}

export type ReadGuard = ReturnType<typeof guardReads>;

/** Runs reads and turns SQLite's errors into those of a store. */
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
    if (failure === 'bug') return error; // also what is ours already
    if (failure === 'fatal') onFatal(error as Error);
    return cannotRead(error);
  }
}
