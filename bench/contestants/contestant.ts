// A contestant of the comparison: a server that stores plants, its setup, and the guarantee of its 2xx response.

import { type Database, startDatabase } from '../database.ts';
import { PLANT, type Request } from '../load.ts';

export type Group = 'ours' | 'floor' | 'hand-written' | 'peer';

export interface Contestant {
  name: string;
  group: Group;
  version: string;
  /** The setup in one line. */
  setup: string;
  /** The guarantee of a 2xx response. */
  promise: string;
  /** Starts the server with its data in the folder. Throws if it cannot be installed or started. */
  start(folder: string): Promise<Running>;
}

export interface Running {
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
