// What takes part in the comparison: a server that stores plants, how it is set up, and what its 2xx promises.

import { type Database, startDatabase } from '../database.ts';
import { PLANT, type Request } from '../load.ts';

export type Group = 'ours' | 'floor' | 'hand-written' | 'peer';

export interface Contestant {
  name: string;
  group: Group;
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

export const JSON_HEADERS = { 'Content-Type': 'application/json' };
/** To a server that has no tokens. */
export const CREATE: Request = { method: 'POST', path: '/plants', headers: JSON_HEADERS, body: PLANT };

/** Sets something up over HTTP; gives the answer. Throws when it is not 2xx. */
export async function send(
  url: string,
  headers: Record<string, string>,
  body: unknown,
): Promise<Record<string, unknown>> {
  const init = { method: 'POST', headers: { ...JSON_HEADERS, ...headers }, body: JSON.stringify(body) };
  const answer = await fetch(url, init);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text);
}

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
