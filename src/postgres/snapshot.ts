// All plants as they were at one moment, while others go on writing: a transaction on a connection of its own, outside
// of the pool, read piece by piece.

import pg from 'pg';
import type { NewPlant, Snapshot } from '../plant.ts';
import { toNewPlant } from '../rows.ts';
import { clientConfig } from './database.ts';
import { LAST_SEQ } from './read.ts';
import { TransactionError, typed } from './transaction.ts';

const FIRST_ROWS = 100;
const MAX_ROWS = 1000;
/** Of the texts in one piece, about. */
const PIECE_CHARS = 512 * 1024;

/** Throws TransactionError. */
export async function openSnapshot(url: string, onClose: () => void): Promise<Snapshot> {
  const client = new pg.Client(clientConfig(url));
  client.on('error', () => {}); // told to whoever is reading
  let open = true;
  let rowsAtOnce = FIRST_ROWS;

  try {
    await client.connect();
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const [last] = await ask(LAST_SEQ); // from here on it sees nothing new
    await client.query('DECLARE plants_exported NO SCROLL CURSOR FOR SELECT id, name, tag FROM plants ORDER BY id');
    return { seq: Number(last?.seq), plants: read(), count, close };
  } catch (error) {
    close();
    throw error instanceof TransactionError ? error : new TransactionError(error, false);
  }

  async function* read(): AsyncGenerator<NewPlant> {
    try {
      for (;;) {
        const rows = (await ask(`FETCH ${rowsAtOnce} FROM plants_exported`)) as unknown as ExportedRow[];
        for (const row of rows) yield toNewPlant(row.id, row);
        if (rows.length < rowsAtOnce) return;
        const chars = rows.reduce((sum, { name, tag }) => sum + name.length + (tag?.length ?? 0), 0);
        rowsAtOnce = Math.max(1, Math.min(MAX_ROWS, 2 * rowsAtOnce, Math.floor((PIECE_CHARS * rows.length) / chars)));
      }
    } finally {
      close();
    }
  }

  async function count(): Promise<number> {
    const [row] = await ask('SELECT count(*) AS count FROM plants');
    return Number(row?.count);
  }

  async function ask(text: string): Promise<Record<string, unknown>[]> {
    try {
      return (await client.query(typed({ text }))).rows;
    } catch (error) {
      throw new TransactionError(error, false);
    }
  }

  function close(): void {
    if (!open) return;
    open = false;
    client.end().catch(() => {});
    onClose();
  }
}

interface ExportedRow {
  id: bigint;
  name: string;
  tag: string | null;
}
