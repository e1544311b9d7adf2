// Runs the statements of the store. It limits the number of queued reads, converts PostgreSQL failures to domain
// errors, and reports when writes start to fail and when they recover, and a schema that another version has changed.

import { PlantStoreError, unavailable } from '../../domain/errors.ts';
import type { Observe } from '../../observability/service-events.ts';
import { TransactionError, toReadError, toWriteError } from './pg-errors.ts';
import { findUnsupported, type SchemaRow, selectSchema } from './schema.ts';
import type { Statement } from './statement.ts';
import type { Transactions } from './transaction.ts';

/** Maximum number of reads queued for a connection. */
const MAX_WAITING_READS = 1000;

export type StoreQueries = ReturnType<typeof createStoreQueries>;

interface StoreQueriesOptions {
  /**
   * Memory that all threads share. Its first number counts how often writes started to fail and recovered, so it is odd
   * while they fail.
   */
  failing: Int32Array;
  observe: Observe;
  /** Called when the schema no longer fits this version. The process must exit. */
  onFailure?(error: Error): void;
}

/** Creates the functions that run statements. */
export function createStoreQueries(transactions: Transactions, { failing, observe, onFailure }: StoreQueriesOptions) {
  const { names } = transactions;
  return { names, read, select, commit, noteCommit, noteFailure, requireSchema };

  /** Runs a read. Throws `unavailable` if too many reads are queued, or if the database cannot be read. */
  async function read<T>(work: (transactions: Transactions) => Promise<T>): Promise<T> {
    if (transactions.waiting() > MAX_WAITING_READS) throw tooManyReads();
    try {
      return await work(transactions);
    } catch (error) {
      throw await explain(toReadError(error));
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
      throw await noteFailure(error);
    }
  }

  /** Must be called after each commit that does not use `commit`. */
  function noteCommit(): void {
    const order = nextIf({ isFailing: true });
    if (order !== undefined) observe({ kind: 'writes_recovered', order });
  }

  /** Must be called after each failed commit that does not use `commit`. Returns the error for the caller. */
  async function noteFailure(error: unknown): Promise<Error> {
    const own = await explain(toWriteError(error));
    const order = own instanceof PlantStoreError ? nextIf({ isFailing: false }) : undefined;
    if (order !== undefined) observe({ kind: 'writes_failing', reason: (error as Error).message, order });
    return own;
  }

  /** Returns the error for the caller. Behind an unexpected error of PostgreSQL can be the schema of another version. */
  async function explain(own: Error): Promise<Error> {
    if (!(own instanceof TransactionError)) return own;
    try {
      const [[row]] = await transactions.read<[SchemaRow]>({ text: selectSchema(names.tables) });
      requireSchema(row as SchemaRow);
      return own;
    } catch (error) {
      return error instanceof PlantStoreError ? error : own;
    }
  }

  /** Throws `unavailable`, and ends the service, if this version does not support the schema. */
  function requireSchema(row: SchemaRow): void {
    const reason = findUnsupported(row);
    if (reason === undefined) return;
    onFailure?.(new Error(reason));
    throw unavailable(reason);
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
