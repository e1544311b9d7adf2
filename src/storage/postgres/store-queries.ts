// Runs the statements of the store. It limits the number of queued reads, converts PostgreSQL failures to domain
// errors, and reports when writes start to fail and when they recover.

import { PlantStoreError, unavailable } from '../../domain/errors.ts';
import type { Observe } from '../../observability/service-events.ts';
import { toReadError, toWriteError } from './pg-errors.ts';
import type { Statement } from './statement.ts';
import type { Transactions } from './transaction.ts';

/** Maximum number of reads queued for a connection. */
const MAX_WAITING_READS = 1000;

export type StoreQueries = ReturnType<typeof createStoreQueries>;

/**
 * Creates the functions that run statements. `failing` is memory that all threads share. Its first number counts how
 * often writes started to fail and recovered, so it is odd while they fail.
 */
export function createStoreQueries(transactions: Transactions, failing: Int32Array, observe: Observe) {
  return { names: transactions.names, read, select, commit, noteCommit, noteFailure };

  /** Runs a read. Throws `unavailable` if too many reads are queued, or if the database cannot be read. */
  async function read<T>(work: (transactions: Transactions) => Promise<T>): Promise<T> {
    if (transactions.waiting() > MAX_WAITING_READS) throw tooManyReads();
    try {
      return await work(transactions);
    } catch (error) {
      throw toReadError(error);
    }
  }

  /** Returns the rows of one read statement. Throws the errors of `read`. */
  async function select<Row extends object>(statement: Statement): Promise<Row[]> {
    const [rows] = await read(({ read }) => read<[Row]>(statement));
    return rows;
  }

  /** Commits one statement. Throws `unavailable` if the commit failed or its outcome is unknown. */
  async function commit<Row extends object>(statement: Statement): Promise<Row[]> {
    try {
      const rows = await transactions.write<Row>(statement);
      noteCommit();
      return rows;
    } catch (error) {
      throw noteFailure(error);
    }
  }

  /** Must be called after each commit that does not use `commit`. */
  function noteCommit(): void {
    const order = nextIf({ isFailing: true });
    if (order !== undefined) observe({ kind: 'writes_recovered', order });
  }

  /** Must be called after each failed commit that does not use `commit`. Returns the error for the caller. */
  function noteFailure(error: unknown): Error {
    const own = toWriteError(error);
    const order = own instanceof PlantStoreError ? nextIf({ isFailing: false }) : undefined;
    if (order !== undefined) observe({ kind: 'writes_failing', reason: (error as Error).message, order });
    return own;
  }

  /** Changes the state if it is the given one. Returns the number of the change, for one thread only. */
  function nextIf({ isFailing }: { isFailing: boolean }): number | undefined {
    const order = Atomics.load(failing, 0);
    if ((order % 2 === 1) !== isFailing) return undefined;
    return Atomics.compareExchange(failing, 0, order, order + 1) === order ? order + 1 : undefined;
  }
}

export function tooManyReads(): PlantStoreError {
  return unavailable('Too many reads are queued. Retry later.');
}
