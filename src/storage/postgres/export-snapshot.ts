// All plants as they were at one moment, while others go on writing: a transaction on a connection of its own, outside
// of the pool, read piece by piece.

import pg from 'pg';
import { MAX_ID, MIN_ID, type NewPlant, type Snapshot } from '../../domain/plant.ts';
import { toNewPlant } from '../row-mapping.ts';
import { clientConfig, type Prepared } from './database.ts';
import { TransactionError } from './pg-errors.ts';
import { type ListedRow, lastSeq, plantsFrom } from './plants-read.ts';
import { ask, beginRead, noLimits, type Row, type Statement, socketOf } from './transaction.ts';

const ROWS_AT_ONCE = 1000;
const ANSWER_WITHIN_MS = 60_000;

/** Throws TransactionError. */
export async function openSnapshot(url: string, prepared: Prepared, onClose: () => void): Promise<Snapshot> {
  const { tables } = prepared.names;
  let client: pg.Client | undefined;
  let open = true;

  try {
    client = new pg.Client(clientConfig(url));
    client.on('error', () => {}); // told to whoever is reading
    await client.connect().catch((error) => {
      throw new TransactionError(error, false);
    });
    await query({ text: beginRead(noLimits(prepared.version)) }); // the reader may be slow
    const [last] = await query({ text: lastSeq(tables) }); // from here on it sees nothing new
    return { seq: Number(last?.seq), plants: read(), count, close };
  } catch (error) {
    close();
    throw error;
  }

  async function* read(): AsyncGenerator<NewPlant> {
    try {
      for (let from = MIN_ID; ; ) {
        const rows = (await query(plantsFrom(tables, from, ROWS_AT_ONCE))) as unknown as (ListedRow & {
          is_cut: boolean;
        })[];
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
    const [row] = await query({ text: `SELECT count(*) AS count FROM ${tables.plants}` });
    return Number(row?.count);
  }

  async function query(statement: Statement): Promise<Row[]> {
    const own = client as pg.Client;
    const giveUp = setTimeout(() => socketOf(own).destroy(), ANSWER_WITHIN_MS);
    return ask(own, statement).finally(() => clearTimeout(giveUp));
  }

  function close(): void {
    if (!open) return;
    open = false;
    client?.end().catch(() => {});
    onClose();
  }
}
