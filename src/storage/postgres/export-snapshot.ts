// Reads all plants from a consistent snapshot in pages, while writes continue. It uses a transaction on its own
// connection, outside of the pool.

import type pg from 'pg';
import { MAX_ID, MIN_ID, type NewPlant, type Snapshot } from '../../domain/plant.ts';
import { toNewPlant } from '../row-mapping.ts';
import { lastSeq } from './change-log.ts';
import { connectClient } from './connect.ts';
import type { PreparedDatabase } from './database.ts';
import { TransactionError } from './pg-errors.ts';
import { type BoundedRow, plantsFrom } from './plants-read.ts';
import type { Statement } from './statement.ts';
import { beginRead, destroyWhenLate, noLimits, queryClient } from './transaction.ts';

const ROWS_AT_ONCE = 1000;
const QUERY_TIMEOUT_MS = 60_000;

/** Opens a snapshot. Throws TransactionError. */
export async function openSnapshot(url: string, database: PreparedDatabase): Promise<Snapshot> {
  const { tables } = database.names;
  let client: pg.Client | undefined;
  let isOpen = true;

  try {
    client = await connectClient(url).catch((error) => {
      throw new TransactionError(error, false);
    });
    await query({ text: beginRead(noLimits(database.version)) }); // without timeouts: the reader may be slow
    const [last] = await query<{ seq: bigint }>({ text: lastSeq(tables) }); // this first query takes the snapshot
    return { seq: Number(last?.seq), plants: read(), count, close };
  } catch (error) {
    close();
    throw error;
  }

  async function* read(): AsyncGenerator<NewPlant> {
    try {
      for (let from = MIN_ID; ; ) {
        const rows = await query<BoundedRow>(plantsFrom(tables, from, ROWS_AT_ONCE));
        for (const row of rows) yield toNewPlant(row.id, row);
        const last = rows.at(-1);
        if (!last || last.id === MAX_ID || (rows.length < ROWS_AT_ONCE && !last.is_cut)) return;
        from = last.id + 1n;
      }
    } finally {
      close();
    }
  }

  async function count(): Promise<number> {
    const [row] = await query<{ count: bigint }>({ text: `SELECT count(*) AS count FROM ${tables.plants}` });
    return Number(row?.count);
  }

  function query<Row extends object>(statement: Statement): Promise<Row[]> {
    const own = client as pg.Client;
    return destroyWhenLate(own, queryClient<Row>(own, statement), QUERY_TIMEOUT_MS);
  }

  function close(): void {
    if (!isOpen) return;
    isOpen = false;
    client?.end().catch(() => {});
  }
}
