// Reads and counts filtered lists in their own thread. A single step in the index `words` cannot be interrupted, and can take
// longer than other requests may wait. The thread starts with the first search,
// or before it with `prepare`.

import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { PlantStoreError, unavailable } from '../../domain/errors.ts';
import type { Filter } from '../../domain/list-cursor.ts';
import type { ListQuery, Page, PlantCount } from '../../domain/plant.ts';
import type { Requester } from '../../lib/semaphore.ts';
import type { FailedSearch, Found, SearchMessage, SearchResult } from './search-thread.ts';

/** The thread's file has the same extension as this file: `.js` in a package, `.ts` in the source tree. */
const THREAD = new URL(`./search-thread${extname(import.meta.filename)}`, import.meta.url);

/** Limit on memory for short-lived objects. A search creates mostly those. */
const YOUNG_MIB = 12;

export function createThreadedSearch(path: string) {
  const waiting = new Map<number, PromiseWithResolvers<Found>>();
  let thread: Worker | undefined;
  let lastNumber = 0;

  return {
    /** Starts the thread if it does not run and the system allows one, so that the next search saves about 200 ms. */
    prepare(): void {
      try {
        thread ??= start();
      } catch {
        // A search tries again, and reports the failure.
      }
    },
    /** Returns a page. Throws the errors of a store's `list`, or an SQLite error. */
    list: (query: ListQuery, requester: Requester = {}) => search('list', query, requester) as Promise<Page>,
    /** Counts matches. Throws the errors of a store's `count`, or an SQLite error. */
    count: (filter: Filter, requester: Requester = {}) => search('count', filter, requester) as Promise<PlantCount>,
    /** Ends the thread if it runs. Rejects searches in progress with `unavailable`. */
    async close(): Promise<void> {
      if (!thread) return;
      thread.postMessage('close' satisfies SearchMessage);
      await once(thread, 'exit');
    },
  };

  async function search(kind: 'list' | 'count', query: ListQuery, { id, signal }: Requester): Promise<Found> {
    signal?.throwIfAborted();
    try {
      thread ??= start();
    } catch (cause) {
      throw unavailable(
        'The system allows no thread for searches. Retry later, or raise the limits on threads and memory.',
        cause,
      );
    }
    const result = Promise.withResolvers<Found>();
    const number = ++lastNumber;
    waiting.set(number, result);
    thread.postMessage({ number, kind, query, requesterId: id } satisfies SearchMessage);
    signal?.addEventListener('abort', abandon);
    return result.promise.finally(() => signal?.removeEventListener('abort', abandon));

    function abandon(): void {
      waiting.delete(number);
      thread?.postMessage({ abandoned: number } satisfies SearchMessage);
      result.reject(signal?.reason);
    }
  }

  function start(): Worker {
    const started = new Worker(THREAD, {
      workerData: { path },
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB },
    });
    let cause: unknown;
    started.on('message', ({ number, ...result }: SearchResult) => {
      const search = waiting.get(number);
      waiting.delete(number);
      if ('found' in result) search?.resolve(result.found);
      else search?.reject(toError(result));
    });
    started.on('error', (error) => {
      cause = error;
    });
    started.on('exit', () => {
      thread = undefined; // the next search starts another thread
      for (const { reject } of waiting.values()) reject(unavailable('The search was aborted. Retry later.', cause));
      waiting.clear();
    });
    return started;
  }
}

function toError({ code, errcode, message }: FailedSearch): Error {
  return code ? new PlantStoreError(code, message) : Object.assign(new Error(message), { errcode });
}
