// Runs in the thread of threaded-search.ts and reads and counts filtered lists on a connection that cannot write. Concurrent
// searches take turns.

import { parentPort, workerData } from 'node:worker_threads';
import { type ErrorCode, PlantStoreError } from '../../domain/errors.ts';
import type { ListQuery, Page, PlantCount } from '../../domain/plant.ts';
import { openReader } from './database.ts';
import { prepareReads } from './plants-read.ts';

type Search = { number: number; kind: 'list' | 'count'; query: ListQuery };
export type Found = Page | PlantCount;
/** A failed search: `code` for a PlantStoreError, `errcode` for an SQLite error. */
export type FailedSearch = { code?: ErrorCode; errcode?: unknown; message: string };
export type SearchResult = { number: number } & ({ found: Found } | FailedSearch);

const port = parentPort;
if (!port) throw new Error('search-thread.ts must run in a worker thread');

const db = openReader((workerData as { path: string }).path);
const reads = prepareReads(db);

port.on('message', async (search: Search | 'close') => {
  if (search !== 'close') {
    port.postMessage(await resultOf(search));
    return;
  }
  db.close();
  port.close();
});

async function resultOf({ number, kind, query }: Search): Promise<SearchResult> {
  try {
    return { number, found: await reads[kind](query) };
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof PlantStoreError) return { number, code: error.code, message };
    return { number, errcode: (error as { errcode?: unknown }).errcode, message };
  }
}
