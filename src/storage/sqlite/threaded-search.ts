// Lists with a filter, read in a thread of their own: a single step in the index of words can take longer than any other
// request may wait, and cannot be interrupted. The thread starts with the first of them.

import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { PlantStoreError, unavailable } from '../../domain/errors.ts';
import type { ListQuery, Page } from '../../domain/plant.ts';
import { nextEventLoopTurn } from '../../lib/event-loop-turns.ts';
import type { FailedSearch, SearchResult } from './search-thread.ts';

/** In a package it is JavaScript, as this file is then. */
const THREAD = new URL(`./search-thread${extname(import.meta.filename)}`, import.meta.url);

/** Limit on memory for short-lived objects, which is what a search creates. */
const YOUNG_MIB = 12;

export function createThreadedSearch(path: string) {
  const waiting = new Map<number, PromiseWithResolvers<Page>>();
  let thread: Worker | undefined;
  let lastNumber = 0;

  return {
    /** Throws as `list` of a store does, or an error of SQLite. */
    async list(query: ListQuery): Promise<Page> {
      thread ??= start();
      const result = Promise.withResolvers<Page>();
      waiting.set(++lastNumber, result);
      thread.postMessage({ number: lastNumber, query });
      const page = await result.promise;
      await nextEventLoopTurn(); // also for what prints the page
      return page;
    },
    /** Ends the thread, if there is one; searches in progress are rejected with `unavailable`. */
    close(): Promise<unknown> | undefined {
      thread?.postMessage('close');
      return thread && once(thread, 'exit');
    },
  };

  function start(): Worker {
    const started = new Worker(THREAD, {
      workerData: { path },
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB },
    });
    let cause: unknown;
    started.on('message', ({ number, ...result }: SearchResult) => {
      const search = waiting.get(number);
      waiting.delete(number);
      if ('page' in result) search?.resolve(result.page);
      else search?.reject(toError(result));
    });
    started.on('error', (error) => {
      cause = error;
    });
    started.on('exit', () => {
      thread = undefined; // the next search starts another one
      for (const { reject } of waiting.values()) reject(unavailable('The search was ended: try again later', cause));
      waiting.clear();
    });
    return started;
  }
}

function toError({ code, errcode, message }: FailedSearch): Error {
  return code ? new PlantStoreError(code, message) : Object.assign(new Error(message), { errcode });
}
