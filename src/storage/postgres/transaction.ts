// Runs a transaction in one round trip: BEGIN, its statements and COMMIT are sent together. It leaves no session state,
// so that a pooler can use a different session for each transaction.

import type { Socket } from 'node:net';
import type pg from 'pg';
import type { PoolClient } from 'pg';
import { failureOf, TransactionError } from './pg-errors.ts';
import { type Names, SEARCH_PATH } from './qualified-names.ts';
import { type Statement, typed } from './statement.ts';

/** Time added to the statement timeout for the network and for COMMIT, which no server timeout limits. */
const GRACE_MS = 5000;

// A transaction sets every setting it depends on, because the session, role and database can have any settings.

/** Durability of a commit: on the disk of every synchronous standby, or also visible there. */
export type SynchronousCommit = 'on' | 'remote_apply';

/** Returns the statements that set the timeouts of a transaction. */
export function limitsOf(statementTimeoutMs: number): string {
  return `SET LOCAL statement_timeout = ${statementTimeoutMs}; SET LOCAL idle_in_transaction_session_timeout = ${statementTimeoutMs}`;
}

/**
 * Returns the statements that remove all timeouts, for a transaction that may take hours. `version` is the major
 * version of the server.
 */
export function noLimits(version: number): string {
  return version < 17 ? limitsOf(0) : `${limitsOf(0)}; SET LOCAL transaction_timeout = 0`;
}

export function beginRead(limits: string): string {
  return `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path = ${SEARCH_PATH}; ${limits}`;
}

/**
 * Begins a write transaction. Also sets all settings that affect stored records or their durability. READ WRITE fails
 * on a standby. It is a separate statement, so that the transaction has begun and rejects all later statements.
 */
export function beginWrite(limits: string, synchronousCommit: SynchronousCommit): string {
  return `BEGIN ISOLATION LEVEL READ COMMITTED; SET TRANSACTION READ WRITE; SET LOCAL search_path = ${SEARCH_PATH}; SET LOCAL array_nulls = on; SET LOCAL synchronous_commit = ${synchronousCommit}; SET LOCAL lock_timeout = 0; SET LOCAL client_min_messages = warning; ${limits}`;
}

/** Returns the rows of one statement. Throws TransactionError. */
export type Query = <Row extends object>(statement: Statement) => Promise<Row[]>;

/** The rows of each of several statements. */
type RowsOf<Rows extends object[]> = { [At in keyof Rows]: Rows[At][] };

export type Transactions = ReturnType<typeof createTransactions>;

interface TransactionOptions {
  names: Names;
  statementTimeoutMs: number;
  synchronousCommit: SynchronousCommit;
}

export function createTransactions(pool: pg.Pool, options: TransactionOptions) {
  const { names, statementTimeoutMs, synchronousCommit } = options;
  const limits = limitsOf(statementTimeoutMs);
  const [readBegin, writeBegin] = [beginRead(limits), beginWrite(limits, synchronousCommit)];
  const deadlineMs = statementTimeoutMs + GRACE_MS;

  return {
    names,
    /** Commits one statement. Throws TransactionError. */
    async write<Row extends object>(statement: Statement): Promise<Row[]> {
      const client = await connect(pool);
      return commitStatement(client, deadlineMs, [writeBegin], statement);
    },
    /**
     * Runs a statement that locks rows and commits the one that `next` returns for them, in one transaction. Commits
     * nothing if it returns none. Throws TransactionError.
     */
    async writeLocked<Locked extends object, Row extends object>(
      lock: Statement,
      next: (locked: Locked[]) => Promise<Statement | undefined>,
    ): Promise<Row[]> {
      const client = await connect(pool);
      const send = (...sent: Statement[]) =>
        sendTogether(client, deadlineMs, () => sent.map((one) => client.query(typed(one))));
      const locked = await send({ text: writeBegin }, lock);
      let statement: Statement | undefined;
      try {
        statement = await next(rowsOf(locked)[1] as Locked[]);
      } finally {
        if (!statement) release(client, [...locked, ...(await send({ text: 'ROLLBACK' }))]);
      }
      return statement ? commitStatement(client, deadlineMs, [], statement) : [];
    },
    /** Runs several statements on one consistent snapshot. Throws TransactionError. */
    async read<Rows extends object[]>(...statements: Statement[]): Promise<RowsOf<Rows>> {
      const client = await connect(pool);
      const sent = [{ text: readBegin }, ...statements, { text: 'COMMIT' }];
      const settled = await sendTogether(client, deadlineMs, () => sent.map((one) => client.query(typed(one))));
      release(client, settled);
      return rowsOf(settled).slice(1, -1) as RowsOf<Rows>;
    },
    /** Runs statements that depend on earlier results, on one snapshot. They share the timeout of one statement. */
    async readStepwise<T>(work: (query: Query) => Promise<T>): Promise<T> {
      const client = await connect(pool);
      const endMs = performance.now() + statementTimeoutMs;
      const done = runStepwise(client, readBegin, (query) =>
        work(async (statement) => {
          if (performance.now() <= endMs) return query(statement);
          throw new TransactionError(new Error('The transaction timed out'), false, 'busy');
        }),
      );
      return destroyWhenLate(client, done, deadlineMs);
    },
    /** Returns the number of transactions queued for a connection. */
    waiting: () => pool.waitingCount,
    end: () => pool.end(),
  };
}

async function connect(pool: pg.Pool): Promise<PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw new TransactionError(error, false);
  }
}

type Settled = PromiseSettledResult<pg.QueryResult>[];

/** Sends all queries together and waits for their results. */
async function sendTogether(
  client: PoolClient,
  deadlineMs: number,
  send: () => Promise<pg.QueryResult>[],
): Promise<Settled> {
  const socket = socketOf(client);
  socket.cork();
  const sent = send();
  socket.uncork();
  return destroyWhenLate(client, Promise.allSettled(sent), deadlineMs);
}

/** Releases the connection after a transaction with these results, or destroys a lost one. */
function release(client: PoolClient, settled: Settled): void {
  const failed = settled.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
  const isLost = settled.at(-1)?.status === 'rejected' || settled[0]?.status === 'rejected';
  client.release(isLost || (failed && failureOf(failed.reason) === 'unreachable'));
}

/** Commits a statement, in a transaction that `begin` begins or that has begun. Releases the connection. */
async function commitStatement<Row extends object>(
  client: PoolClient,
  deadlineMs: number,
  begin: string[],
  statement: Statement,
): Promise<Row[]> {
  let isCommitting = false;
  let warning: Error | undefined;
  // Collects a warning about COMMIT, in any language. Earlier warnings may come from triggers and do not count.
  const onNotice = ({ code = '', message = '' }): void => {
    if (isCommitting && !code.startsWith('00')) warning = new Error(message);
  };
  client.on('notice', onNotice);
  const settled = await sendTogether(client, deadlineMs, () => [
    ...begin.map((text) => client.query(text)),
    new Promise((resolve, reject) => {
      client.query<Row>(typed(statement), (error, result) => {
        isCommitting = true; // set synchronously, because a promise would resolve too late
        if (error) reject(error);
        else resolve(result);
      });
    }),
    client.query('COMMIT'),
  ]);
  client.off('notice', onNotice);
  release(client, settled);
  return committedRows(settled, warning) as Row[];
}

/** Returns the rows of each statement. Throws the error of the first that failed. */
function rowsOf(settled: Settled): object[][] {
  return settled.map((one) => {
    if (one.status === 'rejected') throw new TransactionError(one.reason, false);
    return one.value.rows;
  });
}

/** Returns the rows of the statement before COMMIT. Throws unless they are certainly committed. */
function committedRows(settled: Settled, warning: Error | undefined): object[] {
  const [begun, result, commit] = [settled[0], ...settled.slice(-2)];
  // If the statement failed and the server responded to COMMIT, nothing was committed. Else the outcome is unknown.
  const isRejected = result?.status === 'rejected' && commit?.status === 'fulfilled';
  if (begun?.status === 'rejected') throw new TransactionError(begun.reason, !isRejected);
  if (result?.status !== 'fulfilled') throw new TransactionError(result?.reason, !isRejected);
  if (commit?.status !== 'fulfilled') throw new TransactionError(commit?.reason, true);
  // If the wait for a standby is cancelled, COMMIT succeeds with a warning. The record may be on this server only.
  if (warning || commit.value.command !== 'COMMIT') {
    throw new TransactionError(warning ?? commit.value.command, true);
  }
  return result.value.rows;
}

async function runStepwise<T>(client: PoolClient, begin: string, work: (query: Query) => Promise<T>): Promise<T> {
  const query: Query = (statement) => queryClient(client, statement);
  let isLost = false;
  try {
    await query({ text: begin });
    return await work(query);
  } finally {
    await client.query('ROLLBACK').catch(() => {
      isLost = true;
    });
    client.release(isLost);
  }
}

/** Returns the rows of one statement. Throws TransactionError. */
export async function queryClient<Row extends object>(client: pg.ClientBase, statement: Statement): Promise<Row[]> {
  try {
    return (await client.query<Row>(typed(statement))).rows;
  } catch (error) {
    throw new TransactionError(error, false);
  }
}

/** Waits for `work`. After `timeoutMs` it destroys the connection, which rejects all pending queries on it. */
export async function destroyWhenLate<T>(client: pg.ClientBase, work: Promise<T>, timeoutMs: number): Promise<T> {
  const timer = setTimeout(() => socketOf(client).destroy(), timeoutMs).unref();
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the socket of a connection, which the type declarations of pg omit. */
export function socketOf(client: pg.ClientBase): Socket {
  return (client as pg.ClientBase & { connection: { stream: Socket } }).connection.stream;
}
