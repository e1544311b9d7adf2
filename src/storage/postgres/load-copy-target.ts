// Opens the target database of a copy. One connection reads its rows while another one writes.

import { randomUUID } from 'node:crypto';
import { UserError } from '../../lib/user-error.ts';
import type { ChangeRow, DeliveryRow, PlantRowWithId } from '../row-mapping.ts';
import type { CopiedWebhook } from '../store-copy.ts';
import { COPY_IN_PROGRESS, connect, prepareDatabase } from './database.ts';
import { bounded } from './plants-read.ts';
import type { Tables } from './qualified-names.ts';
import { type Statement, typed } from './statement.ts';
import { beginWrite, noLimits, type Query } from './transaction.ts';

export const ROWS_AT_ONCE = 1000;

export type CopyTarget = Awaited<ReturnType<typeof openCopyTarget>>;

/** Opens the target. Throws UserError if the database cannot be used. */
export async function openCopyTarget(url: string) {
  const { names, version, synchronousCommit } = await prepareDatabase(url, 'copy');
  const { tables, calls } = names;
  const begin = beginWrite(noLimits(version), synchronousCommit);
  const writer = await connect(url);
  const reader = await connect(url).catch(async (error) => {
    await writer.end().catch(() => {});
    throw error;
  });
  /** Identifies this run in the table `copied`. */
  const run = randomUUID();
  /** Returns the rows of one statement, which sees all earlier commits. */
  const query: Query = async (statement) => (await reader.query(typed(statement))).rows;

  /** Runs `work` in a transaction on the writing connection. */
  async function inTransaction(work: (query: Query) => Promise<void>): Promise<void> {
    await writer.query(begin);
    await work(async (statement) => (await writer.query(typed(statement))).rows);
    await writer.query('COMMIT');
  }

  return {
    tables,
    calls,
    run,
    query,
    inTransaction,
    /** Starts reading. The transaction stays open; each statement sees all earlier commits. */
    async beginReading(): Promise<void> {
      await reader.query(begin);
    },
    /** Commits statements. Throws UserError if another run has started. */
    commit(statements: Statement[]): Promise<void> {
      return inTransaction(async (write) => {
        const text = `UPDATE ${tables.copied} SET seq = $1 WHERE run = $2 RETURNING run`;
        const own = await write({ text, values: [COPY_IN_PROGRESS, run] });
        if (own.length !== 1) throw new UserError('Another copy into this database has started, so this one stopped');
        for (const statement of statements) await write(statement);
      });
    },
    // These yield rows by ascending key. Rows stored meanwhile must not have a key after the last row that was read.
    plants: () => readBy<PlantRowWithId>(query, tables.plants, 'id'),
    changes: () => readBy<ChangeRow>(query, tables.changes, 'seq'),
    async *webhooks() {
      yield* await query<CopiedWebhook>({ text: `SELECT * FROM ${tables.webhooks} ORDER BY id` });
    },
    deliveries: () => readDeliveries(query, tables),
    async close(): Promise<void> {
      await Promise.allSettled([writer.end(), reader.end()]);
    },
  };
}

async function* readBy<Row extends object>(query: Query, table: string, key: 'id' | 'seq'): AsyncGenerator<Row> {
  for (let last: unknown; ; ) {
    const where = last === undefined ? '' : `WHERE ${key} > $1`;
    const text = `SELECT * FROM ${table} ${where} ORDER BY ${key} LIMIT ${ROWS_AT_ONCE}`;
    const rows = await query<Row>(bounded(text, key, last === undefined ? [] : [last]));
    yield* rows;
    const end = rows.at(-1) as { id?: bigint; seq?: bigint; is_cut?: boolean } | undefined;
    if (!end || (rows.length < ROWS_AT_ONCE && !end.is_cut)) return;
    last = end[key];
  }
}

async function* readDeliveries(query: Query, { deliveries }: Tables): AsyncGenerator<DeliveryRow> {
  const text = `
    SELECT * FROM ${deliveries} WHERE (webhook_id, seq) > ($1, $2::bigint) ORDER BY webhook_id, seq LIMIT ${ROWS_AT_ONCE}`;
  for (let last = { webhook_id: '', seq: 0n }; ; ) {
    const rows = await query<DeliveryRow>({ text, values: [last.webhook_id, last.seq] });
    yield* rows;
    if (rows.length < ROWS_AT_ONCE) return;
    last = rows.at(-1) as DeliveryRow;
  }
}
