// What takes part in the comparison: a server that stores plants, how it is set up, and what its 2xx promises.

import { join } from 'node:path';
import { type Database, startDatabase } from '../database.ts';
import { PLANT, type Request } from '../load.ts';

export interface Contestant {
  name: string;
  version: string;
  /** In one line. */
  setup: string;
  /** What is sure once it has answered with 2xx. */
  promise: string;
  /** Throws when it cannot be installed or started here. The folder is for its data. */
  start(folder: string): Promise<Running>;
}

export interface Running {
  url: string;
  pid: number;
  /** Of its database server, where it has one: nobody shares it. */
  databasePid?: number;
  /** What stores a plant. */
  create: Request;
  /** What reads one. */
  get?: Request;
  /** How many plants are stored; missing where none is. */
  countPlants?(): Promise<number>;
  stop(): Promise<void>;
}

/** To a server that has no tokens. */
export const CREATE: Request = {
  method: 'POST',
  path: '/plants',
  headers: { 'Content-Type': 'application/json' },
  body: PLANT,
};
/** Those that are written by hand. */
export const SERVERS = join(import.meta.dirname, 'servers');

/** On a PostgreSQL that begins and ends with it. */
export async function onPostgres(start: (database: Database) => Promise<Running>): Promise<Running> {
  const database = await startDatabase();
  try {
    const running = await start(database);
    return {
      ...running,
      databasePid: database.pid,
      async stop() {
        await running.stop();
        await database.remove();
      },
    };
  } catch (error) {
    await database.remove();
    throw error;
  }
}
