// The store over HTTP, for programs that run elsewhere: exact ids, retries where they are safe, streams that go on.
// Needs nothing but fetch, so it imports no package and nothing of Node's.

import {
  nextCursor,
  notUnderstood,
  PassingError,
  seqOf,
  toChange,
  toImportResult,
  toVersioned,
  understood,
  withExactId,
} from './answer.ts';
import type { Change, ChangeLog } from './change.ts';
import { type Body, openBody } from './client-body.ts';
import {
  type CallOptions,
  type ClientOptions,
  createCaller,
  DEFAULT_TIMEOUT_MS,
  json,
  toHeaders,
  toQuery,
} from './client-call.ts';
import { createTokensClient, type TokensClient } from './client-tokens.ts';
import { createWebhooksClient, type WebhooksClient } from './client-webhooks.ts';
import type { Condition } from './condition.ts';
import { type ErrorCode, PlantStoreError } from './error.ts';
import { createEventReader } from './event-stream.ts';
import { parseJson, printJson } from './json.ts';
import type {
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
import type { Summary } from './summary.ts';

export type { DescribedToken, Scope, TokenWithSecret, WantedToken as NewToken } from './token.ts';
export type {
  Delivery,
  DeliveryQuery,
  DeliveryStatus,
  NewWebhook,
  Replay,
  TestResult,
  Webhook,
  WebhookWithSecret,
} from './webhook.ts';
export type { CallOptions, Change, ClientOptions, Created, ErrorCode, ImportResult, ListQuery, NewPlant, Page, Plant };
export { type PlantPatch, type PlantRecord, PlantStoreError, type Snapshot, type Summary, type Versioned };

/** The answer names no more errors than that. */
const IMPORT_PLANTS_AT_ONCE = 1000;
/** So that a slow line gets it through in time. */
const IMPORT_CHARACTERS_AT_ONCE = 1024 * 1024;
const WALK_LIMIT = 1000;
/** A create that is sent again is a replay. */
const REPLAYED = { isRepeatable: true } as const;

/** What is sent once only (all but reads, create and import) and throws `unavailable` may have been done. */
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
  /** May be some seconds old. */
  summary(options?: CallOptions): Promise<Summary>;
  changes(query?: { after?: number | undefined; limit?: number | undefined }, options?: CallOptions): Promise<Change[]>;
  /** Connects again for as long as it takes. Throws only what that cannot mend. */
  follow(options?: { after?: number | undefined; signal?: AbortSignal | undefined }): AsyncIterable<Change>;
  readonly tokens: TokensClient;
  readonly webhooks: WebhooksClient;
}

export function createClient(options: ClientOptions): PlantStoreClient {
  const { token, timeoutMs = DEFAULT_TIMEOUT_MS, silenceMs = 45_000 } = options;
  if (typeof JSON.rawJSON !== 'function') {
    throw new Error(
      'plant-store/client needs JSON.rawJSON, which Node has since 22: without it ids beyond 2^53 would be rounded',
    );
  }
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Error('"token" is empty, or has a character that no token has');
  const { origin, pathname } = new URL(options.url);
  const base = origin + pathname.replace(/\/+$/, '');
  const caller = createCaller(base, options);
  const { ask, request, tryOnce, pause } = caller;

  const client: PlantStoreClient = {
    create(plant, options) {
      const call = { ...options, method: 'POST', path: '/plants', ...json(plant), ...REPLAYED } as const;
      return ask(call, (_plant, headers) => ({
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
        const sent = { headers, body: lines.join('\n'), ...REPLAYED };
        const part = await ask({ ...options, method: 'POST', path: '/plants/import', ...sent }, (report) =>
          toImportResult(report, done),
        );
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
    summary(options) {
      return ask({ ...options, method: 'GET', path: '/plants/summary' }, (summary) => summary as Summary);
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
    tokens: createTokensClient(caller),
    webhooks: createWebhooksClient(caller),
  };
  return client;

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
