// A contestant of the comparison: a server that stores plants, its setup, and the guarantee of its 2xx response.

import { type Database, startDatabase } from '../database.ts';
import { PLANT, type Request } from '../load.ts';

export type Group = 'ours' | 'floor' | 'hand-written' | 'peer';

export interface Contestant {
  name: string;
  group: Group;
  /** The setup in one line. */
  setup: string;
  /** The worst event after which a plant with a 2xx response is still there. A crash is that of the process. */
  survives: 'power cut' | 'crash' | 'nothing';
  /** The guarantee of a 2xx response, and how the server keeps it. The chart has space for 70 characters. */
  promise: string;
  /** Starts the server with its data in the folder. Throws if it cannot be installed or started. */
  start(folder: string): Promise<Running>;
}

export interface Running {
  /** The version that is installed, as its package or its binary states it. */
  version: string;
  /** Version of its database, and the settings of a database server that decide what a commit survives. */
  database?: string;
  url: string;
  pid: number;
  /** Process id of its own database server, if it has one. */
  databasePid?: number;
  /** The request that stores a plant. */
  create: Request;
  /** The request that reads a plant. */
  get?: Request;
  /** Returns the number of stored plants. Undefined if the server stores none. */
  countPlants?(): Promise<number>;
  stop(): Promise<void>;
}

export const JSON_HEADERS = { 'Content-Type': 'application/json' };
/** The create request for a server without tokens. */
export const CREATE: Request = { method: 'POST', path: '/plants', headers: JSON_HEADERS, body: PLANT };

/** Sends a setup request and returns the response body. Throws if the status is not 2xx. */
export async function send(
  url: string,
  headers: Record<string, string>,
  body: unknown,
): Promise<Record<string, unknown>> {
  const init = { method: 'POST', headers: { ...JSON_HEADERS, ...headers }, body: JSON.stringify(body) };
  const answer = await fetch(url, init);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} returned ${answer.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text);
}

/** Starts a server on its own PostgreSQL server, which stops with it. */
export async function onPostgres(start: (database: Database) => Promise<Running>): Promise<Running> {
  const database = await startDatabase();
  try {
    const description = await describePostgres(database);
    const running = await start(database);
    return {
      ...running,
      database: description,
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

/** Returns the version and the settings in force, as the server reports them. */
async function describePostgres({ query }: Database): Promise<string> {
  const settings = ['server_version', 'fsync', 'synchronous_commit'].map(
    (name) => `current_setting('${name}') AS ${name}`,
  );
  const [row] = await query(`SELECT ${settings.join(', ')}`);
  return `PostgreSQL ${row?.server_version}, fsync=${row?.fsync}, synchronous_commit=${row?.synchronous_commit}`;
}
