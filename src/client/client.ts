// The store over HTTP, for programs that run elsewhere: exact ids, retries where they are safe, streams that go on.
// Needs nothing but fetch, so it imports no package and nothing of Node's.

import type { Change, ChangeLog } from '../domain/change.ts';
import { type ErrorCode, PlantStoreError } from '../domain/errors.ts';
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
} from '../domain/plant.ts';
import type { Summary } from '../domain/plant-summary.ts';
import type { Precondition } from '../domain/precondition.ts';
import { createExports, type Exports } from './export.ts';
import { createFollow } from './follow.ts';
import { createImports, type Imports } from './import.ts';
import {
  type CallOptions,
  type ClientOptions,
  createRequester,
  DEFAULT_TIMEOUT_MS,
  json,
  toHeaders,
  toQuery,
} from './request.ts';
import { nextCursor, seqOf, toChange, toVersioned, withExactId } from './response.ts';
import { createTokensClient, type TokensClient } from './tokens.ts';
import { createWebhooksClient, type WebhooksClient } from './webhooks.ts';

export type { ChangeType, DeliveryStatus, Scope } from '../domain/names.ts';
export type { DescribedToken, TokenWithSecret, WantedToken as NewToken } from '../domain/token.ts';
export type {
  Delivery,
  DeliveryQuery,
  NewWebhook,
  Replay,
  TestResult,
  Webhook,
  WebhookWithSecret,
} from '../domain/webhook.ts';
export type { ExportFileOptions } from './export.ts';
export type { FileType, ImportFileOptions, ImportProgress } from './import.ts';
export type { CallOptions, Change, ClientOptions, Created, ErrorCode, ImportResult, ListQuery, NewPlant, Page, Plant };
export { type PlantPatch, type PlantRecord, PlantStoreError, type Snapshot, type Summary, type Versioned };

const WALK_LIMIT = 1000;

/** What is sent once only (all but reads, create and import) and throws `unavailable` may have been done. */
export interface PlantStoreClient extends Omit<PlantStore, 'import' | 'export'>, ChangeLog, Imports, Exports {
  /** `replayed` may be due to an earlier try of the same call. */
  create(plant: NewPlant, options?: CallOptions): Promise<Created>;
  get(id: bigint, options?: CallOptions): Promise<Versioned>;
  list(query?: ListQuery, options?: CallOptions): Promise<Page>;
  /** The records of all pages. */
  walk(query?: ListQuery, options?: CallOptions): AsyncIterable<PlantRecord>;
  put(id: bigint, plant: Plant, options?: CallOptions & Precondition): Promise<Versioned>;
  patch(id: bigint, patch: PlantPatch, options?: CallOptions & Precondition): Promise<Versioned>;
  delete(id: bigint, options?: CallOptions & Precondition): Promise<void>;
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
  const requester = createRequester(base, options);
  const { requestJson, request } = requester;

  const client: PlantStoreClient = {
    ...createImports(requester),
    ...createExports(requester, timeoutMs),
    create(plant, options) {
      const call = { ...options, method: 'POST', path: '/plants', ...json(plant), isRepeatable: true } as const;
      return requestJson(call, (_plant, headers) => ({
        seq: seqOf(headers),
        replayed: headers.get('idempotent-replayed') === 'true',
      }));
    },
    get(id, options) {
      return requestJson({ ...options, method: 'GET', path: `/plants/${id}` }, toVersioned);
    },
    list({ limit, cursor, tag, q } = {}, options) {
      const path = `/plants${toQuery({ limit, cursor, tag, q })}`;
      return requestJson({ ...options, method: 'GET', path }, (records, headers) => {
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
      return requestJson({ ...options, method: 'PUT', path: `/plants/${id}`, ...json(plant, options) }, toVersioned);
    },
    patch(id, patch, options) {
      const sent = json(patch, options, 'application/merge-patch+json');
      return requestJson({ ...options, method: 'PATCH', path: `/plants/${id}`, ...sent }, toVersioned);
    },
    async delete(id, options) {
      const call = { ...options, method: 'DELETE', path: `/plants/${id}`, headers: toHeaders(options) } as const;
      await request(call, (response) => response.text());
    },
    summary(options) {
      return requestJson({ ...options, method: 'GET', path: '/plants/summary' });
    },
    changes({ after, limit } = {}, options) {
      return requestJson({ ...options, method: 'GET', path: `/events${toQuery({ after, limit })}` }, (changes) =>
        (changes as Change[]).map(toChange),
      );
    },
    follow: createFollow(requester, silenceMs),
    tokens: createTokensClient(requester),
    webhooks: createWebhooksClient(requester),
  };
  return client;
}
