// Runs in the thread of threaded-search.ts: lists with a filter on a connection that cannot write. Several searches take turns.

import { parentPort, workerData } from 'node:worker_threads';
import { type ErrorCode, PlantStoreError } from '../../domain/errors.ts';
import type { ListQuery, Page } from '../../domain/plant.ts';
import { openReader } from './database.ts';
import { prepareReads } from './plants-read.ts';

type Search = { number: number; query: ListQuery };
/** Our own error by its code, one of SQLite by its result code. */
export type FailedSearch = { code?: ErrorCode; errcode?: unknown; message: string };
export type SearchResult = { number: number } & ({ page: Page } | FailedSearch);

const port = parentPort;
if (!port) throw new Error('search-thread.ts runs in a worker thread only');

const db = openReader((workerData as { path: string }).path);
const { list } = prepareReads(db);

port.on('message', async (search: Search | 'close') => {
  if (search !== 'close') {
    port.postMessage(await resultOf(search));
    return;
  }
  db.close();
  port.close();
});

async function resultOf({ number, query }: Search): Promise<SearchResult> {
  try {
    return { number, page: await list(query) };
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof PlantStoreError) return { number, code: error.code, message };
    return { number, errcode: (error as { errcode?: unknown }).errcode, message };
  }
}
