// The databases of the measured servers: a PostgreSQL server for each, with default settings, and row counts.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { queryPostgres, startPostgres } from '../testing/postgres.ts';

/** The SQLite in Node, which runs the servers in TypeScript. */
export const NODE_SQLITE = `SQLite ${process.versions.sqlite}`;

export interface Database {
  url: string;
  /** Process id of the postmaster, the parent of all its processes. */
  pid: number;
  folder: string;
  query(text: string): Promise<Record<string, unknown>[]>;
  countRows(table: string): Promise<number>;
  remove(): Promise<void>;
}

/** Starts a PostgreSQL server. `settings` are those of postgresql.conf. */
export async function startDatabase(settings: Record<string, string> = {}): Promise<Database> {
  const { url, folder, remove } = await startPostgres(settings);
  const query = (text: string) => queryPostgres(url, text);
  return {
    url,
    pid: Number(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n')[0]),
    folder,
    query,
    async countRows(table) {
      const [row] = await query(`SELECT count(*) AS rows FROM ${table}`);
      return Number(row?.rows);
    },
    remove,
  };
}

/** Returns the number of plants in a file, which a server may have open. */
export function countSqlite(path: string): number {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
  try {
    return Number(db.prepare('SELECT count(*) AS rows FROM plants').get()?.rows);
  } finally {
    db.close();
  }
}
