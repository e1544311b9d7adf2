// A transaction in one round trip: BEGIN, its statements and COMMIT leave together. Nothing is left behind in the
// session, so that a pooler may give each transaction another one.

import pg, { type PoolClient } from 'pg';
import { type Failure, failureOf, isPlainError } from './failure.ts';

/** Beyond the statement timeout, for the way and the COMMIT, which no timeout of the server cuts. */
const GRACE_MS = 5000;

export interface Statement {
  text: string;
  values?: unknown[];
}
export type Row = Record<string, unknown>;

export interface Transactions {
  /** One statement, committed. Throws TransactionError. */
  write(statement: Statement): Promise<Row[]>;
  /** Several of one moment. Throws TransactionError. */
  read(...statements: Statement[]): Promise<Row[][]>;
  /** The same where one statement depends on the one before. */
  readStepwise<T>(work: (query: (statement: Statement) => Promise<Row[]>) => Promise<T>): Promise<T>;
  /** So many ask for a connection. */
  waiting(): number;
  end(): Promise<void>;
}

export class TransactionError extends Error {
  readonly failure: Failure;
  /** It may have been committed. */
  readonly unknown: boolean;

  constructor(cause: unknown, unknown: boolean) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'TransactionError';
    this.failure = failureOf(cause);
    this.unknown = unknown;
  }
}

export function createTransactions(pool: pg.Pool, statementTimeoutMs: number): Transactions {
  const limits = `SET LOCAL statement_timeout = ${statementTimeoutMs}; SET LOCAL idle_in_transaction_session_timeout = ${statementTimeoutMs}`;
  const beginWrite = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; ${limits}`;
  const beginRead = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${limits}`;

  return {
    async write(statement) {
      const client = await connect();
      let warning: Error | undefined;
      const onNotice = ({
        severity,
        message,
      }: {
        severity?: string | undefined;
        message?: string | undefined;
      }): void => {
        if (severity === 'WARNING') warning = new Error(message);
      };
      client.on('notice', onNotice);
      const [, rows, commit] = await settle(client, [{ text: beginWrite }, statement, { text: 'COMMIT' }]);
      client.off('notice', onNotice);
      if (rows?.status === 'rejected') throw new TransactionError(rows.reason, !isPlainError(rows.reason));
      if (commit?.status !== 'fulfilled') throw new TransactionError(commit?.reason, true);
      // A cancelled wait for a standby is a COMMIT with a warning: here, and perhaps nowhere else.
      if (warning || commit.value.command !== 'COMMIT')
        throw new TransactionError(warning ?? commit.value.command, true);
      return (rows as PromiseFulfilledResult<pg.QueryResult>).value.rows;
    },

    async read(...statements) {
      const client = await connect();
      const [begun, ...answers] = await settle(client, [{ text: beginRead }, ...statements, { text: 'COMMIT' }]);
      const failed = [begun, ...answers.slice(0, -1)].find((answer) => answer?.status === 'rejected');
      if (failed?.status === 'rejected') throw new TransactionError(failed.reason, false);
      return answers.slice(0, -1).map((answer) => (answer as PromiseFulfilledResult<pg.QueryResult>).value.rows);
    },

    async readStepwise(work) {
      const client = await connect();
      let lost: Error | undefined;
      const query = async (statement: Statement): Promise<Row[]> => {
        try {
          return (await withDeadline(client, client.query(typed(statement)))).rows;
        } catch (error) {
          if (failureOf(error) === 'unreachable') lost = error as Error;
          throw new TransactionError(error, false);
        }
      };
      const begun = query({ text: beginRead });
      begun.catch(() => {}); // what follows fails, too
      try {
        return await work(query);
      } finally {
        await client.query('ROLLBACK').catch((error) => {
          lost = error;
        });
        client.release(lost);
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

  /** Sends all at once, and gives the connection back, or up. */
  async function settle(client: PoolClient, statements: Statement[]): Promise<PromiseSettledResult<pg.QueryResult>[]> {
    const answers = Promise.allSettled(statements.map((statement) => client.query(typed(statement))));
    const settled = await withDeadline(client, answers);
    const lost = settled.find((answer) => answer.status === 'rejected' && failureOf(answer.reason) === 'unreachable');
    client.release(lost !== undefined);
    return settled;
  }

  /** A server that says nothing more is given up: its socket is closed, which rejects what was asked. */
  async function withDeadline<T>(client: PoolClient, answer: Promise<T>): Promise<T> {
    const timer = setTimeout(() => socketOf(client).destroy(), statementTimeoutMs + GRACE_MS);
    return answer.finally(() => clearTimeout(timer));
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
function socketOf(client: PoolClient): { destroy(): void } {
  return (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream;
}
