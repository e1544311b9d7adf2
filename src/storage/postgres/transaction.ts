// A transaction in one round trip: BEGIN, its statements and COMMIT leave together. Nothing is left behind in the
// session, so that a pooler may give each transaction another one.

import type { Socket } from 'node:net';
import pg, { type PoolClient } from 'pg';
import { failureOf, TransactionError } from './pg-errors.ts';
import { type Names, SEARCH_PATH } from './qualified-names.ts';

/** Beyond the statement timeout, for the way and the COMMIT, which no timeout of the server cuts. */
const GRACE_MS = 5000;

export interface Statement {
  text: string;
  values?: unknown[];
}
export type Row = Record<string, unknown>;
export type Query = (statement: Statement) => Promise<Row[]>;

export interface Transactions {
  readonly names: Names;
  /** One statement, committed. Throws TransactionError. */
  write(statement: Statement): Promise<Row[]>;
  /** Several of one moment. Throws TransactionError. */
  read(...statements: Statement[]): Promise<Row[][]>;
  /** The same where one statement depends on the one before. All together take no longer than one may. */
  readStepwise<T>(work: (query: Query) => Promise<T>): Promise<T>;
  /** So many wait for a connection. */
  waiting(): number;
  end(): Promise<void>;
}

type Answer = PromiseSettledResult<pg.QueryResult>;

export interface TransactionOptions {
  names: Names;
  statementTimeoutMs: number;
  synchronousCommit: SynchronousCommit;
}

export function createTransactions(pool: pg.Pool, options: TransactionOptions): Transactions {
  const { names, statementTimeoutMs, synchronousCommit } = options;
  const limits = limitsOf(statementTimeoutMs);
  const [readBegin, writeBegin] = [beginRead(limits), beginWrite(limits, synchronousCommit)];
  const deadlineMs = statementTimeoutMs + GRACE_MS;

  return {
    names,

    async write(statement) {
      const client = await connect();
      let committing = false;
      let warning: Error | undefined;
      // What the server says about its COMMIT, in whatever language. A trigger may warn of something else before.
      const onNotice = ({ code = '', message = '' }): void => {
        if (committing && !code.startsWith('00')) warning = new Error(message);
      };
      client.on('notice', onNotice);
      const [begun, rows, commit] = await settle(client, () => [
        client.query(writeBegin),
        new Promise((resolve, reject) => {
          client.query(typed(statement), (error, result) => {
            committing = true; // at once, not when a promise gets its turn
            if (error) reject(error);
            else resolve(result);
          });
        }),
        client.query('COMMIT'),
      ]);
      client.off('notice', onNotice);
      // A server that answers the COMMIT has refused the statement. All else may have been done, though nobody heard.
      const isRefused = rows?.status === 'rejected' && commit?.status === 'fulfilled';
      if (begun?.status === 'rejected') throw new TransactionError(begun.reason, !isRefused);
      if (rows?.status !== 'fulfilled') throw new TransactionError(rows?.reason, !isRefused);
      if (commit?.status !== 'fulfilled') throw new TransactionError(commit?.reason, true);
      // A cancelled wait for a standby is a COMMIT with a warning: here, and perhaps nowhere else.
      if (warning || commit.value.command !== 'COMMIT') {
        throw new TransactionError(warning ?? commit.value.command, true);
      }
      return rows.value.rows;
    },

    async read(...statements) {
      const client = await connect();
      const sent = [{ text: readBegin }, ...statements, { text: 'COMMIT' }];
      const answers = await settle(client, () => sent.map((statement) => client.query(typed(statement))));
      const failed = answers.find((answer) => answer.status === 'rejected');
      if (failed) throw new TransactionError(failed.reason, false);
      return answers.slice(1, -1).map((answer) => (answer as PromiseFulfilledResult<pg.QueryResult>).value.rows);
    },

    async readStepwise(work) {
      const client = await connect();
      const giveUp = setTimeout(() => socketOf(client).destroy(), deadlineMs);
      const endMs = performance.now() + statementTimeoutMs;
      const query: Query = async (statement) => {
        if (performance.now() > endMs) throw new TransactionError(new Error('It takes too long'), false, 'busy');
        return ask(client, statement);
      };
      let isLost = false;
      try {
        await query({ text: readBegin });
        return await work(query);
      } finally {
        await client.query('ROLLBACK').catch(() => {
          isLost = true;
        });
        clearTimeout(giveUp);
        client.release(isLost);
      }
    },

    waiting: () => pool.waitingCount,
    end: () => pool.end(),
  };

  async function connect(): Promise<PoolClient> {
    try {
      return await pool.connect();
    } catch (error) {
      throw new TransactionError(error, false);
    }
  }

  /** Sends all in one piece, waits for the answers, and gives the connection back, or up. */
  async function settle(client: PoolClient, send: () => Promise<pg.QueryResult>[]): Promise<Answer[]> {
    const socket = socketOf(client);
    const giveUp = setTimeout(() => socket.destroy(), deadlineMs); // which rejects what was asked
    socket.cork();
    const sent = send();
    socket.uncork();
    const answers = await Promise.allSettled(sent);
    clearTimeout(giveUp);
    const failed = answers.find((answer) => answer.status === 'rejected');
    const isLost = answers.at(-1)?.status === 'rejected' || answers[0]?.status === 'rejected';
    client.release(isLost || (failed && failureOf(failed.reason) === 'unreachable'));
    return answers;
  }
}

/** How durable a commit is: on the disk of every synchronous standby, or visible there, too. */
export type SynchronousCommit = 'on' | 'remote_apply';

/** Bounds on the time that a transaction takes. Those of database and role do not apply. */
export function limitsOf(statementTimeoutMs: number): string {
  return `SET LOCAL statement_timeout = ${statementTimeoutMs}; SET LOCAL idle_in_transaction_session_timeout = ${statementTimeoutMs}`;
}

/** For a transaction that may take hours. */
export function noLimits(version: number): string {
  return version < 17 ? limitsOf(0) : `${limitsOf(0)}; SET LOCAL transaction_timeout = 0`;
}

export function beginRead(limits: string): string {
  return `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path = ${SEARCH_PATH}; ${limits}`;
}

/**
 * Sets every setting of database and role that would change what is stored or how safely. On a standby READ WRITE fails:
 * in a statement of its own, so that the transaction has begun and refuses all that follows.
 */
export function beginWrite(limits: string, synchronousCommit: SynchronousCommit): string {
  return `BEGIN ISOLATION LEVEL READ COMMITTED; SET TRANSACTION READ WRITE; SET LOCAL search_path = ${SEARCH_PATH}; SET LOCAL array_nulls = on; SET LOCAL synchronous_commit = ${synchronousCommit}; SET LOCAL lock_timeout = 0; SET LOCAL client_min_messages = warning; ${limits}`;
}

/** Throws TransactionError. */
export async function ask(client: pg.ClientBase, statement: Statement): Promise<Row[]> {
  try {
    return (await client.query(typed(statement))).rows;
  } catch (error) {
    throw new TransactionError(error, false);
  }
}

/** int8 as bigint, int4 as number, bool as boolean, all else as its text. */
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

/** Its types leave it out. */
export function socketOf(client: pg.ClientBase): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream;
}
