// Runs the statements of the store: bounds the number of reads that wait, turns failures of PostgreSQL into errors of the
// domain, and reports when writes begin to fail and when they work again.

import { PlantStoreError, unavailable } from '../../domain/errors.ts';
import type { Observe } from '../../observability/service-events.ts';
import { toReadError, toWriteError } from './pg-errors.ts';
import type { Names } from './qualified-names.ts';
import type { Query, Transactions } from './transaction.ts';

/** Maximum number of reads that wait for a connection. */
const MAX_WAITING_READS = 1000;

export interface StoreQueries {
  readonly names: Names;
  /** Runs a read. Throws `unavailable` if too many are waiting, or if the database cannot be read. */
  read<T>(work: (transactions: Transactions) => Promise<T>): Promise<T>;
  /** Returns the rows of one statement that reads. Throws as `read` does. */
  select: Query;
  /** Commits one statement. Throws `unavailable` if it could not be committed, or if that is not known. */
  commit: Query;
  /** To be called after each commit that was not made through `commit`. */
  noteCommit(): void;
  /** The same for a failed one: returns the error for the caller. */
  noteFailure(error: unknown): Error;
}

export function createStoreQueries(transactions: Transactions, observe: Observe): StoreQueries {
  let isFailing = false;
  const queries: StoreQueries = {
    names: transactions.names,
    async read(work) {
      if (transactions.waiting() > MAX_WAITING_READS) throw tooManyReads();
      try {
        return await work(transactions);
      } catch (error) {
        throw toReadError(error);
      }
    },
    async select<Row extends object>(statement: Parameters<Query>[0]) {
      const [rows] = await queries.read(({ read }) => read<[Row]>(statement));
      return rows;
    },
    async commit(statement) {
      try {
        const rows = await transactions.write<never>(statement);
        queries.noteCommit();
        return rows;
      } catch (error) {
        throw queries.noteFailure(error);
      }
    },
    noteCommit() {
      if (isFailing) observe({ kind: 'writes_recovered' });
      isFailing = false;
    },
    noteFailure(error) {
      const own = toWriteError(error);
      if (own instanceof PlantStoreError && !isFailing) {
        isFailing = true;
        observe({ kind: 'writes_failing', reason: (error as Error).message });
      }
      return own;
    },
  };
  return queries;
}

export function tooManyReads(): PlantStoreError {
  return unavailable('Too many reads are waiting: try again later');
}
