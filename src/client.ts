// The store over HTTP, for programs that run elsewhere: exact ids, retries where they are safe, streams that go on.
// Needs nothing but fetch, so it imports no package and nothing of Node's.

import {
  nextCursor,
  notUnderstood,
  PassingError,
  seqOf,
  toChange,
  toError,
  toImportResult,
  toVersioned,
  understood,
  withExactId,
} from './answer.ts';
import type { Change, ChangeLog } from './change.ts';
import type { Condition, Versions } from './condition.ts';
import { type ErrorCode, PlantStoreError } from './error.ts';
import { createEventReader } from './event-stream.ts';
import { parseJson, printJson } from './json.ts';
import type {
  Author,
  Created,
  ImportResult,
  ListQuery,
  NewPlant,
  Page,
  Plant,
  PlantPatch,
  PlantRecord,
  PlantStore,
  Snapshot,
  Versioned,
} from './plant.ts';

export type { Change, Created, ErrorCode, ImportResult, ListQuery, NewPlant, Page, Plant, PlantPatch, PlantRecord };
export { PlantStoreError, type Snapshot, type Versioned };

const RETRY_BASE_MS = 100;
const RETRY_CAP_MS = 10_000;
/** The answer names no more errors than that. */
const IMPORT_PLANTS_AT_ONCE = 1000;
/** So that a slow line gets it through in time. */
const IMPORT_CHARACTERS_AT_ONCE = 1024 * 1024;
const WALK_LIMIT = 1000;
/** A longer timer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface ClientOptions {
  /** With the base path, if it has one: `https://example.org/store`. */
  url: string | URL;
  token: string;
  /** For each try, and for each piece of an export. */
  timeoutMs?: number;
  /** How often a read or a create is sent again after a passing failure. */
  retries?: number;
  /** A followed connection that is silent for so long is given up for a new one: every 15 s there is a comment. */
  silenceMs?: number;
  fetch?: typeof globalThis.fetch;
  /** Rejects with the signal's reason when that aborts. */
  sleep?(timeMs: number, signal?: AbortSignal): Promise<void>;
  random?(): number;
  clock?(): number;
}

/** The token says who it is, so `tokenId` has no effect: it is there to make the client a PlantStore. */
export interface CallOptions extends Partial<Author> {
  /** Ends the call, also a retry or a stream, with its reason. */
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

/** What is sent once only (put, patch, delete) and throws `unavailable` may have been done. */
export interface PlantStoreClient extends PlantStore, ChangeLog {
  /** `replayed` may be due to an earlier try of the same call. */
  create(plant: NewPlant, options?: CallOptions): Promise<Created>;
  get(id: bigint, options?: CallOptions): Promise<Versioned>;
  list(query?: ListQuery, options?: CallOptions): Promise<Page>;
  /** The records of all pages. */
  walk(query?: ListQuery, options?: CallOptions): AsyncIterable<PlantRecord>;
  put(id: bigint, plant: Plant, options?: CallOptions & Condition): Promise<Versioned>;
  patch(id: bigint, patch: PlantPatch, options?: CallOptions & Condition): Promise<Versioned>;
  delete(id: bigint, options?: CallOptions & Condition): Promise<void>;
  import(plants: NewPlant[], options?: CallOptions): Promise<ImportResult>;
  /** The service cuts off who does not read on for 10 s. */
  export(options?: CallOptions): Promise<Snapshot>;
  changes(query?: { after?: number | undefined; limit?: number | undefined }, options?: CallOptions): Promise<Change[]>;
  /** Connects again for as long as it takes. Throws only what that cannot mend. */
  follow(options?: { after?: number | undefined; signal?: AbortSignal | undefined }): AsyncIterable<Change>;
}

interface Call extends CallOptions {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

export function createClient(options: ClientOptions): PlantStoreClient {
  const { token, timeoutMs = 30_000, retries = 5, silenceMs = 45_000 } = options;
  const { fetch = globalThis.fetch, sleep = sleepFor, random = Math.random, clock = Date.now } = options;
  if (typeof JSON.rawJSON !== 'function') {
    throw new Error(
      'plant-store/client needs JSON.rawJSON, which Node has since 22: without it ids beyond 2^53 would be rounded',
    );
  }
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Error('"token" is empty, or has a character that no token has');
  const { origin, pathname } = new URL(options.url);
  const base = origin + pathname.replace(/\/+$/, '');

  const client: PlantStoreClient = {
    create(plant, options) {
      return ask({ ...options, method: 'POST', path: '/plants', ...json(plant) }, (_plant, headers) => ({
        seq: seqOf(headers),
        replayed: headers.get('idempotent-replayed') === 'true',
      }));
    },
    get(id, options) {
      return ask({ ...options, method: 'GET', path: `/plants/${id}` }, toVersioned);
    },
    list({ limit, cursor, tag, q } = {}, options) {
      const path = `/plants${toQuery({ limit, cursor, tag, q })}`;
      return ask({ ...options, method: 'GET', path }, (records, headers) => {
        const next = nextCursor(headers, base);
        return { records: (records as PlantRecord[]).map(withExactId), ...(next !== undefined && { next }) };
      });
    },
    async *walk(query, options) {
      let cursor = query?.cursor;
      do {
        const page = await client.list({ limit: WALK_LIMIT, ...query, cursor }, options);
        for (const record of page.records) {
          options?.signal?.throwIfAborted();
          yield record;
        }
        cursor = page.next;
      } while (cursor !== undefined);
    },
    put(id, plant, options) {
      return ask({ ...options, method: 'PUT', path: `/plants/${id}`, ...json(plant, options) }, toVersioned);
    },
    patch(id, patch, options) {
      const sent = json(patch, options, 'application/merge-patch+json');
      return ask({ ...options, method: 'PATCH', path: `/plants/${id}`, ...sent }, toVersioned);
    },
    async delete(id, options) {
      const call = { ...options, method: 'DELETE', path: `/plants/${id}`, headers: toHeaders(options) } as const;
      await request(call, (response) => response.text());
    },
    async import(plants, options) {
      const result: ImportResult = { created: 0, replayed: 0, failed: 0, errors: [] };
      for (let done = 0; done < plants.length; ) {
        const lines = printLines(plants, done);
        const headers = { 'content-type': 'application/x-ndjson' };
        const call = { ...options, method: 'POST', path: '/plants/import', headers, body: lines.join('\n') } as const;
        const part = await ask(call, (report) => toImportResult(report, done));
        result.created += part.created;
        result.replayed += part.replayed;
        result.failed += part.failed;
        result.errors.push(...part.errors);
        done += lines.length;
      }
      return result;
    },
    export(options = {}) {
      const { signal, timeoutMs: pieceMs = timeoutMs } = options;
      const headers = { accept: 'application/x-ndjson' };
      return request({ ...options, method: 'GET', path: '/plants/export', headers }, async (response) => {
        const seq = seqOf(response.headers);
        const body = openBody(response, pieceMs, signal);
        return { seq, plants: readPlants(await body.read(), body, signal), close: body.close };
      });
    },
    changes({ after, limit } = {}, options) {
      return ask({ ...options, method: 'GET', path: `/events${toQuery({ after, limit })}` }, (changes) =>
        (changes as Change[]).map(toChange),
      );
    },
    async *follow({ after, signal } = {}) {
      let last = after;
      for (let tries = 1; !signal?.aborted; tries++) {
        let retryAfterMs = 0;
        try {
          for await (const change of connect(last, signal)) {
            if (last !== undefined && change.seq <= last) continue;
            last = change.seq;
            tries = 1;
            yield change;
            if (signal?.aborted) return;
          }
        } catch (error) {
          if (signal?.aborted) return;
          if (!(error instanceof PassingError)) throw error;
          retryAfterMs = error.retryAfterMs;
        }
        await pause(tries, retryAfterMs, signal).catch(() => {}); // aborted, as the loop sees
      }
    },
  };
  return client;

  function ask<T>(call: Call, toValue: (json: unknown, headers: Headers) => T): Promise<T> {
    return request(call, async (response) => {
      const text = await response.text();
      return understood(() => toValue(parseJson(text), response.headers));
    });
  }

  async function request<T>(call: Call, read: (response: Response) => Promise<T>): Promise<T> {
    const isRepeatable = call.method === 'GET' || call.method === 'POST'; // a create sent again is a replay
    for (let tries = 1; ; tries++) {
      try {
        return await tryOnce(call, read);
      } catch (error) {
        const mayRepeat = isRepeatable || (error as PlantStoreError).code === 'over_rate'; // which has done nothing
        if (!(error instanceof PassingError) || !mayRepeat || tries > retries) throw error;
        await pause(tries, error.retryAfterMs, call.signal);
      }
    }
  }

  function tryOnce<T>(call: Call, read: (response: Response) => Promise<T>): Promise<T> {
    return within(call.timeoutMs ?? timeoutMs, call.signal, async (signal) => {
      const response = await fetch(base + call.path, {
        method: call.method,
        headers: { accept: 'application/json', authorization: `Bearer ${token}`, ...call.headers },
        ...(call.body !== undefined && { body: call.body }),
        signal,
        redirect: 'error',
        credentials: 'omit',
        cache: 'no-store',
      });
      if (!response.ok) throw await toError(response, clock());
      return read(response);
    });
  }

  /** Full jitter; those that were sent away together must not come back together. */
  function pause(tries: number, retryAfterMs: number, signal: AbortSignal | undefined): Promise<void> {
    const ceilingMs = Math.min(RETRY_CAP_MS, RETRY_BASE_MS * 2 ** (tries - 1));
    return sleep(retryAfterMs + random() * ceilingMs, signal);
  }

  async function* connect(after: number | undefined, signal: AbortSignal | undefined): AsyncGenerator<Change> {
    const headers = { accept: 'text/event-stream', ...(after !== undefined && { 'last-event-id': String(after) }) };
    const body = await tryOnce({ method: 'GET', path: '/events', headers, signal }, async (response) => {
      const type = response.headers.get('content-type') ?? '';
      if (!type.startsWith('text/event-stream')) throw notUnderstood(`it is "${type}", not an event stream`);
      return openBody(response, silenceMs, signal);
    });
    const readEvents = createEventReader();
    try {
      for (let bytes = await body.read(); bytes !== undefined; bytes = await body.read()) {
        for (const { data } of readEvents(bytes)) yield understood(() => toChange(parseJson(data) as Change));
      }
    } finally {
      body.close();
    }
  }
}

interface Body {
  /** The next piece, or undefined at the end. */
  read(): Promise<Uint8Array | undefined>;
  isClosed(): boolean;
  close(): void;
}

function openBody({ body }: Response, timeoutMs: number, signal: AbortSignal | undefined): Body {
  const reader = body?.getReader();
  let closed = false;
  return {
    async read() {
      const piece = await within(timeoutMs, signal, async () => reader?.read());
      return piece?.value;
    },
    isClosed: () => closed,
    close() {
      closed = true;
      reader?.cancel().catch(() => {}); // it has failed before
    },
  };
}

async function* readPlants(
  firstPiece: Uint8Array | undefined,
  body: Body,
  signal: AbortSignal | undefined,
): AsyncGenerator<NewPlant> {
  const decoder = new TextDecoder();
  let unended = '';
  try {
    for (let bytes = firstPiece; bytes !== undefined; bytes = await body.read()) {
      const lines = (unended + decoder.decode(bytes, { stream: true })).split('\n');
      unended = lines.pop() ?? '';
      for (const line of lines) {
        if (body.isClosed()) return;
        signal?.throwIfAborted();
        yield understood(() => withExactId(parseJson(line) as NewPlant));
      }
    }
    if (unended !== '' && !body.isClosed()) throw new PlantStoreError('unavailable', 'The export was cut off');
  } finally {
    body.close();
  }
}

/** Throws the signal's reason when it aborts, and a PassingError when the time is up or the network fails. */
async function within<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const ending = new AbortController();
  const ended = Promise.withResolvers<never>();
  const timer = setTimeout(onTimeout, Math.min(timeoutMs, MAX_TIMER_MS));
  signal?.addEventListener('abort', onAbort);
  try {
    return await Promise.race([work(ending.signal), ended.promise]);
  } catch (error) {
    ending.abort(error); // what is left of the answer will not be read
    signal?.throwIfAborted();
    if (error instanceof PlantStoreError) throw error;
    throw new PassingError('unavailable', `No answer from the plant store: ${reasonOf(error)}`, { cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }

  function onTimeout(): void {
    ended.reject(new DOMException(`nothing came within ${timeoutMs} ms`, 'TimeoutError'));
  }

  function onAbort(): void {
    ended.reject(signal?.reason);
  }
}

/** Behind Node's "fetch failed" is what really happened. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return (cause instanceof Error && cause.message) || message;
}

function toQuery(parameters: Record<string, string | number | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.toString() && `?${query}`;
}

function json(
  value: unknown,
  condition?: Condition,
  type = 'application/json',
): Pick<Required<Call>, 'headers' | 'body'> {
  return { headers: { 'content-type': type, ...toHeaders(condition) }, body: printJson(value) };
}

function toHeaders({ ifMatch, ifNoneMatch }: Condition = {}): Record<string, string> {
  return {
    ...(ifMatch && { 'if-match': toEtags(ifMatch) }),
    ...(ifNoneMatch && { 'if-none-match': toEtags(ifNoneMatch) }),
  };
}

/** A list cannot be empty in HTTP; no version is 0. */
function toEtags(versions: Versions): string {
  if (versions === '*') return '*';
  return versions.length === 0 ? '"0"' : versions.map((seq) => `"${seq}"`).join(', ');
}

function printLines(plants: NewPlant[], start: number): string[] {
  const lines: string[] = [];
  let characters = 0;
  for (const plant of plants.slice(start, start + IMPORT_PLANTS_AT_ONCE)) {
    const line = printJson(plant);
    lines.push(line);
    characters += line.length;
    if (characters >= IMPORT_CHARACTERS_AT_ONCE) break;
  }
  return lines;
}

function sleepFor(timeMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(wake, Math.min(timeMs, MAX_TIMER_MS));
    signal?.addEventListener('abort', wake);

    function wake(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    }
  });
}
