// A transaction in one round trip: BEGIN, its statements and COMMIT are sent together. Nothing stays behind in the
// session, so that a pooler may give each transaction another one.

import type { Socket } from 'node:net';
import pg, { type PoolClient } from 'pg';
import { failureOf, TransactionError } from './pg-errors.ts';
import { type Names, SEARCH_PATH } from './qualified-names.ts';

/** Time beyond the statement timeout, for the network and the COMMIT, which no timeout of the server ends. */
const GRACE_MS = 5000;

// A transaction sets every setting on which it depends, since those of the session, the role and the database may be anything.

/** How durable a commit is: on the disk of every synchronous standby, or visible there, too. */
export type SynchronousCommit = 'on' | 'remote_apply';

/** Sets the timeouts of a transaction. */
function limitsOf(statementTimeoutMs: number): string {
  return `SET LOCAL statement_timeout = ${statementTimeoutMs}; SET LOCAL idle_in_transaction_session_timeout = ${statementTimeoutMs}`;
}

/** Removes all timeouts, for a transaction that may take hours. `version` is the major version of the server. */
export function noLimits(version: number): string {
  return version < 17 ? limitsOf(0) : `${limitsOf(0)}; SET LOCAL transaction_timeout = 0`;
}

export function beginRead(limits: string): string {
  return `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path = ${SEARCH_PATH}; ${limits}`;
}

/**
 * Also sets what would change what is stored or how safely. On a standby READ WRITE fails: in a statement of its own, so
 * that the transaction has begun and rejects all that follows.
 */
export function beginWrite(limits: string, synchronousCommit: SynchronousCommit): string {
  return `BEGIN ISOLATION LEVEL READ COMMITTED; SET TRANSACTION READ WRITE; SET LOCAL search_path = ${SEARCH_PATH}; SET LOCAL array_nulls = on; SET LOCAL synchronous_commit = ${synchronousCommit}; SET LOCAL lock_timeout = 0; SET LOCAL client_min_messages = warning; ${limits}`;
}

export interface Statement {
  text: string;
  values?: unknown[];
}

/** Returns the rows of one statement. Throws TransactionError. */
export type Query = <Row extends object>(statement: Statement) => Promise<Row[]>;

/** The rows of several statements. */
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
      let isCommitting = false;
      let warning: Error | undefined;
      // What the server says about its COMMIT, in whatever language. A trigger may warn of something else before.
      const onNotice = ({ code = '', message = '' }): void => {
        if (isCommitting && !code.startsWith('00')) warning = new Error(message);
      };
      client.on('notice', onNotice);
      const settled = await sendTogether(client, deadlineMs, () => [
        client.query(writeBegin),
        new Promise((resolve, reject) => {
          client.query<Row>(typed(statement), (error, result) => {
            isCommitting = true; // at once, not when a promise gets its turn
            if (error) reject(error);
            else resolve(result);
          });
        }),
        client.query('COMMIT'),
      ]);
      client.off('notice', onNotice);
      return committedRows(settled, warning) as Row[];
    },
    /** Runs several statements on one snapshot. Throws TransactionError. */
    async read<Rows extends object[]>(...statements: Statement[]): Promise<RowsOf<Rows>> {
      const client = await connect(pool);
      const sent = [{ text: readBegin }, ...statements, { text: 'COMMIT' }];
      const settled = await sendTogether(client, deadlineMs, () => sent.map((one) => client.query(typed(one))));
      const rows = settled.map((one) => {
        if (one.status === 'rejected') throw new TransactionError(one.reason, false);
        return one.value.rows;
      });
      return rows.slice(1, -1) as RowsOf<Rows>;
    },
    /** The same where a statement depends on the one before. All together may take as long as one statement. */
    async readStepwise<T>(work: (query: Query) => Promise<T>): Promise<T> {
      const client = await connect(pool);
      const endMs = performance.now() + statementTimeoutMs;
      const done = runStepwise(client, readBegin, (query) =>
        work(async (statement) => {
          if (performance.now() <= endMs) return query(statement);
          throw new TransactionError(new Error('It takes too long'), false, 'busy');
        }),
      );
      return destroyWhenLate(client, done, deadlineMs);
    },
    /** Returns the number of transactions that wait for a connection. */
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

/** Sends all queries in one piece, waits for their results, and releases the connection, or destroys one that is lost. */
async function sendTogether(
  client: PoolClient,
  deadlineMs: number,
  send: () => Promise<pg.QueryResult>[],
): Promise<Settled> {
  const socket = socketOf(client);
  socket.cork();
  const sent = send();
  socket.uncork();
  const settled = await destroyWhenLate(client, Promise.allSettled(sent), deadlineMs);
  const failed = settled.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
  const isLost = settled.at(-1)?.status === 'rejected' || settled[0]?.status === 'rejected';
  client.release(isLost || (failed && failureOf(failed.reason) === 'unreachable'));
  return settled;
}

/** Returns the rows of the statement between BEGIN and COMMIT if it is certain that they are committed. */
function committedRows([begun, result, commit]: Settled, warning: Error | undefined): object[] {
  // A server that responds to the COMMIT has rejected the statement. All else may be committed, unknown to us.
  const isRejected = result?.status === 'rejected' && commit?.status === 'fulfilled';
  if (begun?.status === 'rejected') throw new TransactionError(begun.reason, !isRejected);
  if (result?.status !== 'fulfilled') throw new TransactionError(result?.reason, !isRejected);
  if (commit?.status !== 'fulfilled') throw new TransactionError(commit?.reason, true);
  // A cancelled wait for a standby is a COMMIT with a warning: here, and perhaps nowhere else.
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

/** Waits for `work`. After `timeoutMs` the connection is destroyed, which rejects what was sent on it. */
export async function destroyWhenLate<T>(client: pg.ClientBase, work: Promise<T>, timeoutMs: number): Promise<T> {
  const timer = setTimeout(() => socketOf(client).destroy(), timeoutMs);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

/** Parses int8 to bigint, int4 to number, bool to boolean, and leaves all else as text. */
const TYPES = {
  getTypeParser(oid: number): (text: string) => unknown {
    if (oid === pg.types.builtins.INT8) return BigInt;
    if (oid === pg.types.builtins.INT4) return Number;
    if (oid === pg.types.builtins.BOOL) return (text) => text === 't';
    return (text) => text;
  },
};

export function typed({ text, values }: Statement): pg.QueryConfig {
  return { text, ...(values && { values }), types: TYPES as pg.CustomTypesConfig };
}

/** The types of pg leave it out. */
function socketOf(client: pg.ClientBase): Socket {
  return (client as pg.ClientBase & { connection: { stream: Socket } }).connection.stream;
}
