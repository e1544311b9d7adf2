// Runs in the thread of threaded-search.ts and reads and counts filtered lists on a connection that cannot write. Concurrent
// searches take turns, and end when their clients have left.

import { parentPort, workerData } from 'node:worker_threads';
import { type ErrorCode, PlantStoreError } from '../../domain/errors.ts';
import type { ListQuery, Page, PlantCount } from '../../domain/plant.ts';
import { createSearchTurns } from '../search-turns.ts';
import { openReader } from './database.ts';
import { prepareReads } from './plants-read.ts';

type Search = { number: number; kind: 'list' | 'count'; query: ListQuery; requesterId: string | undefined };
export type SearchMessage = Search | { abandoned: number } | 'close';
export type Found = Page | PlantCount;
/** A failed search: `code` for a PlantStoreError, `errcode` for an SQLite error. */
export type FailedSearch = { code?: ErrorCode; errcode?: unknown; message: string };
export type SearchResult = { number: number } & ({ found: Found } | FailedSearch);

const port = parentPort;
if (!port) throw new Error('search-thread.ts must run in a worker thread');

const db = openReader((workerData as { path: string }).path);
const reads = prepareReads(db);
const inTurn = createSearchTurns({ maxConcurrent: 1 });
const clients = new Map<number, AbortController>();

port.on('message', async (message: SearchMessage) => {
  if (message === 'close') {
    db.close();
    port.close();
  } else if ('abandoned' in message) clients.get(message.abandoned)?.abort();
  else port.postMessage(await resultOf(message));
});

async function resultOf({ number, kind, query, requesterId: id }: Search): Promise<SearchResult> {
  const client = new AbortController();
  clients.set(number, client);
  try {
    return {
      number,
      found: await inTurn<Found>((turns) => reads[kind](query, turns.next), { id, signal: client.signal }),
    };
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof PlantStoreError) return { number, code: error.code, message };
    return { number, errcode: (error as { errcode?: unknown }).errcode, message };
  } finally {
    clients.delete(number);
  }
}
