// The client library: access to a plant store over HTTP, with exact ids, safe retries and streams that resume.
// It runs in Node and in browsers. It needs only fetch, so it imports no package and no Node module.

import type { Change, ChangeLog, ChangePage, ChangePageQuery, HistoryQuery, Prune, Pruned } from '../domain/change.ts';
import { type ErrorCode, PlantStoreError } from '../domain/errors.ts';
import type { Filter } from '../domain/list-cursor.ts';
import type {
  Created,
  ImportResult,
  ListQuery,
  NewPlant,
  Page,
  Plant,
  PlantCount,
  PlantPatch,
  PlantRecord,
  PlantStore,
  Snapshot,
  Versioned,
} from '../domain/plant.ts';
import type { Summary } from '../domain/plant-summary.ts';
import type { Precondition } from '../domain/precondition.ts';
import type { ServiceStatus } from '../domain/service-status.ts';
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
} from './request.ts';
import {
  having,
  lastSeqOf,
  nextParameter,
  seqOf,
  toChange,
  totalOf,
  toVersioned,
  unexpectedResponse,
  withExactId,
} from './response.ts';
import { createTokensClient, type TokensClient } from './tokens.ts';
import { createWebhooksClient, type WebhooksClient } from './webhooks.ts';

export type { Delivery, DeliveryDetail, Replay, TestResult } from '../domain/delivery.ts';
export type { ChangeType, DeliveryStatus, Scope, WebhookFormat } from '../domain/names.ts';
export type { DescribedToken, TokenPatch, TokenWithSecret, WantedToken as NewToken } from '../domain/token.ts';
export type { NewWebhook, Webhook, WebhookPatch, WebhookWithSecret } from '../domain/webhook.ts';
export type { DeliveryQuery } from '../domain/webhook-store.ts';

import { toQuery } from '../lib/query.ts';

export type { ExportFileOptions } from './export.ts';
export type { FileType, ImportFileOptions, ImportOptions, ImportProgress } from './import.ts';
export type {
  CallOptions,
  Change,
  ChangePage,
  ChangePageQuery,
  ClientOptions,
  Created,
  ErrorCode,
  Filter,
  HistoryQuery,
  ImportResult,
  ListQuery,
  NewPlant,
  Page,
  Plant,
  PlantCount,
  Prune,
  Pruned,
};
export {
  type PlantPatch,
  type PlantRecord,
  PlantStoreError,
  type ServiceStatus,
  type Snapshot,
  type Summary,
  type Versioned,
};

const WALK_LIMIT = 1000;
const PRUNE = { method: 'POST', path: '/events/prune' } as const;
const PRUNE_MS = 600_000;
const toPruned = having<Pruned>('pruned');

/**
 * A plant store that is reached over HTTP. Methods throw a `PlantStoreError`, or the signal's reason after an abort.
 * The client retries reads, `create` and imports. It sends every other call once, unless the server rejects the call
 * with `over_rate` or `over_share`. If such a call throws `unavailable`, the server may have executed it.
 */
export interface PlantStoreClient extends Omit<PlantStore, 'import' | 'export'>, ChangeLog, Imports, Exports {
  /**
   * Stores a new plant. `replayed` is true if the same plant was stored already, possibly by an earlier attempt of this
   * call. If it was deleted since that attempt, it is stored again. Throws `id_taken` if the id belongs to a different
   * plant.
   */
  create(plant: NewPlant, options?: CallOptions): Promise<Created>;
  /** Returns a plant and its version. Throws `not_found`. */
  get(id: bigint, options?: CallOptions): Promise<Versioned>;
  /**
   * Returns one page of plants, in ascending order of id unless `sort` is set. `offset` skips plants, to jump to any row.
   * With `count`, the page has a `total`.
   */
  list(query?: ListQuery & { count?: boolean }, options?: CallOptions): Promise<Page & { total?: PlantCount }>;
  /** Counts the plants that match. `isMore` is true if a filter matches more than 100,000. */
  count(filter?: Filter, options?: CallOptions): Promise<PlantCount>;
  /** Iterates over the plants of all pages. It requests 1,000 plants per page unless `limit` is set. */
  walk(query?: ListQuery, options?: CallOptions): AsyncIterable<PlantRecord>;
  /** Replaces or creates a plant. Throws `condition_failed` if the precondition does not hold. */
  put(id: bigint, plant: Plant, options?: CallOptions & Precondition): Promise<Versioned>;
  /** Changes fields of a plant. Throws `not_found`, or `condition_failed` if the precondition does not hold. */
  patch(id: bigint, patch: PlantPatch, options?: CallOptions & Precondition): Promise<Versioned>;
  /** Deletes a plant. Throws `not_found`, or `condition_failed` if the precondition does not hold. */
  delete(id: bigint, options?: CallOptions & Precondition): Promise<void>;
  /** Returns counts of plants, tags and changes. They can be a few seconds old. */
  summary(options?: CallOptions): Promise<Summary>;
  /** Returns a page of the changes of a plant, newest first. Throws `not_found`. */
  history(plantId: bigint, query?: HistoryQuery, options?: CallOptions): Promise<ChangePage<string>>;
  /**
   * Returns a filtered page of the change log. It can be short or empty although `next` is set. To continue, pass
   * `next` as `after`, or as `before` in descending order.
   */
  changePage(query: ChangePageQuery, options?: CallOptions): Promise<ChangePage<number>>;
  /**
   * Removes changes from the change log. The records stay. It can take minutes, so `timeoutMs` is 10 minutes by default.
   * Requires the scope `admin`.
   */
  prune(changes: Prune, options?: CallOptions): Promise<Pruned>;
  /** Returns the number of the newest change, or 0. */
  lastSeq(options?: CallOptions): Promise<number>;
  /** Returns the status of the service, as a dashboard shows it. Requires the scope `admin`. */
  status(options?: CallOptions): Promise<ServiceStatus>;
  /**
   * Returns the changes after number `after`, or from the oldest one, in order. It returns at most `limit` changes, 100
   * by default. An empty array marks the end. Throws `changes_pruned` if changes after `after` no longer exist.
   */
  changes(query?: { after?: number | undefined; limit?: number | undefined }, options?: CallOptions): Promise<Change[]>;
  /**
   * Iterates over the changes after number `after`, or from the oldest one, then over new ones until the signal aborts.
   * It reconnects without limit, and throws only errors that reconnecting cannot fix, such as `changes_pruned`.
   */
  follow(options?: { after?: number | undefined; signal?: AbortSignal | undefined }): AsyncIterable<Change>;
  /** Access to tokens. */
  readonly tokens: TokensClient;
  /** Access to webhooks and their deliveries. */
  readonly webhooks: WebhooksClient;
}

/** Returns a client for the store at `options.url`. It sends no request until a method is called. */
export function createClient(options: ClientOptions): PlantStoreClient {
  const { token, timeoutMs = DEFAULT_TIMEOUT_MS, silenceMs = 45_000 } = options;
  if (typeof JSON.rawJSON !== 'function') {
    throw new Error(
      'The plant-store client requires JSON.rawJSON (Node 22 or later). Without it, ids beyond 2^53 would be rounded.',
    );
  }
  if (token === '') throw new Error('"token" is empty. Set it to the secret of a token.');
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Error('"token" must consist of visible ASCII characters');
  const { origin, pathname } = new URL(options.url);
  const base = origin + pathname.replace(/\/+$/, '');
  const requester = createRequester(base, options);
  const { requestJson, requestNothing, request } = requester;

  const client: PlantStoreClient = {
    ...createImports(requester, timeoutMs),
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
    list(query = {}, options) {
      const { limit, cursor, offset, sort, tag, untagged, q, count } = query;
      const path = `/plants${toQuery({ limit, cursor, offset, sort, tag, untagged, q, count })}`;
      return requestJson({ ...options, method: 'GET', path }, (records, headers) => {
        const next = nextParameter(headers, base, 'cursor');
        const total = totalOf(headers);
        return {
          records: (records as PlantRecord[]).map(withExactId),
          ...(next !== undefined && { next }),
          ...(total && { total }),
        };
      });
    },
    async count({ tag, untagged, q } = {}, options) {
      const { total } = await client.list({ tag, untagged, q, limit: 1, count: true }, options);
      if (total) return total;
      throw unexpectedResponse('its Total-Count is missing');
    },
    async *walk(query = {}, options) {
      let { cursor, offset } = query;
      do {
        const page = await client.list({ limit: WALK_LIMIT, ...query, cursor, offset }, options);
        for (const record of page.records) {
          options?.signal?.throwIfAborted();
          yield record;
        }
        cursor = page.next;
        offset = undefined;
      } while (cursor !== undefined);
    },
    put(id, plant, options) {
      return requestJson({ ...options, method: 'PUT', path: `/plants/${id}`, ...json(plant, options) }, toVersioned);
    },
    patch(id, patch, options) {
      const sent = json(patch, options, 'application/merge-patch+json');
      return requestJson({ ...options, method: 'PATCH', path: `/plants/${id}`, ...sent }, toVersioned);
    },
    delete: (id, options) =>
      requestNothing({ ...options, method: 'DELETE', path: `/plants/${id}`, headers: toHeaders(options) }),
    summary(options) {
      return requestJson({ ...options, method: 'GET', path: '/plants/summary' });
    },
    status(options) {
      return requestJson({ ...options, method: 'GET', path: '/status' });
    },
    changes({ after, limit } = {}, options) {
      return requestJson({ ...options, method: 'GET', path: `/events${toQuery({ after, limit })}` }, (changes) =>
        (changes as Change[]).map(toChange),
      );
    },
    history(plantId, { limit, cursor } = {}, options) {
      const path = `/plants/${plantId}/changes${toQuery({ limit, cursor })}`;
      return requestJson({ ...options, method: 'GET', path }, (changes, headers) => {
        const next = nextParameter(headers, base, 'cursor');
        return { changes: (changes as Change[]).map(toChange), ...(next !== undefined && { next }) };
      });
    },
    changePage({ sinceMs, untilMs, ...query }, options) {
      const times = { since: toTime(sinceMs), until: toTime(untilMs) };
      const path = `/events${toQuery({ ...query, ...times })}`;
      return requestJson({ ...options, method: 'GET', path }, (changes, headers) => {
        const next = nextParameter(headers, base, query.order === 'desc' ? 'before' : 'after');
        return { changes: (changes as Change[]).map(toChange), ...(next !== undefined && { next: Number(next) }) };
      });
    },
    prune: (changes, options) => requestJson({ timeoutMs: PRUNE_MS, ...options, ...PRUNE, ...json(changes) }, toPruned),
    lastSeq(options) {
      const call = { ...options, method: 'HEAD', path: '/events?limit=1' } as const;
      return request(call, async ({ headers }) => lastSeqOf(headers));
    },
    follow: createFollow(requester, silenceMs),
    tokens: createTokensClient(requester, base),
    webhooks: createWebhooksClient(requester),
  };
  return client;
}

function toTime(timeMs: number | undefined): string | undefined {
  return timeMs === undefined ? undefined : new Date(timeMs).toISOString();
}
