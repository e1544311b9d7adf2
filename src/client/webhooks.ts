// The client's methods for webhooks. After a lost response the client retries only reads, because a retry of any other
// call could create a second secret or a second delivery.

import type { Delivery, DeliveryDetail, Replay, TestResult } from '../domain/delivery.ts';
import type { NewWebhook, Webhook, WebhookPatch, WebhookWithSecret } from '../domain/webhook.ts';
import type { DeliveryQuery } from '../domain/webhook-store.ts';
import { toQuery } from '../lib/query.ts';
import { type CallOptions, json, type Requester } from './request.ts';
import { having, toArray } from './response.ts';

/**
 * Methods for webhooks. All need the scope `admin`. `create`, `update`, `rotate`, `enable`, `delivery`, `retry` and
 * `replay` also need `plants:read`. Methods that take an id throw `not_found`.
 */
export interface WebhooksClient {
  /** Creates a webhook. Only this response contains its secret. */
  create(webhook: NewWebhook, options?: CallOptions): Promise<WebhookWithSecret>;
  /** Returns all webhooks, oldest first. */
  list(options?: CallOptions): Promise<Webhook[]>;
  /** Returns a webhook. */
  get(id: string, options?: CallOptions): Promise<Webhook>;
  /** Changes fields of a webhook. `name: null` removes the name. `enabled` disables or enables the webhook. */
  update(id: string, patch: WebhookPatch, options?: CallOptions): Promise<Webhook>;
  /** Removes a webhook and its deliveries. */
  delete(id: string, options?: CallOptions): Promise<void>;
  /** Creates a new secret. For 24 hours the old one also signs deliveries. */
  rotate(id: string, options?: CallOptions): Promise<WebhookWithSecret>;
  /** Enables a disabled webhook. Pending changes are delivered. */
  enable(id: string, options?: CallOptions): Promise<Webhook>;
  /** Sends a test message and returns the receiver's response. It takes up to 15 s. */
  test(id: string, options?: CallOptions): Promise<TestResult>;
  /** Returns deliveries, newest first. For the next page, set `before` to the last `seq` of this one. */
  deliveries(id: string, query?: DeliveryQuery, options?: CallOptions): Promise<Delivery[]>;
  /** Returns a delivery with its newest request and its newest attempts. */
  delivery(id: string, seq: number, options?: CallOptions): Promise<DeliveryDetail>;
  /** Sends a change again, regardless of the delivery's status. */
  retry(id: string, seq: number, options?: CallOptions): Promise<Delivery>;
  /** Sends a range of changes again. */
  replay(id: string, range: Replay, options?: CallOptions): Promise<Webhook>;
}

const toWebhook = having<Webhook>('id');
const toSecret = having<WebhookWithSecret>('secret');

/** Returns the client's `webhooks`. */
export function createWebhooksClient({ requestJson, requestNothing }: Requester): WebhooksClient {
  return {
    create: (webhook, options) =>
      requestJson({ ...options, method: 'POST', path: '/webhooks', ...json(webhook) }, toSecret),
    list: (options) => requestJson({ ...options, method: 'GET', path: '/webhooks' }, toArray<Webhook>),
    get: (id, options) => requestJson({ ...options, method: 'GET', path: pathOf(id) }, toWebhook),
    update: (id, patch, options) =>
      requestJson({ ...options, method: 'PATCH', path: pathOf(id), ...json(patch) }, toWebhook),
    delete: (id, options) => requestNothing({ ...options, method: 'DELETE', path: pathOf(id) }),
    rotate: (id, options) => requestJson({ ...options, method: 'POST', path: `${pathOf(id)}/rotate` }, toSecret),
    enable: (id, options) => requestJson({ ...options, method: 'POST', path: `${pathOf(id)}/enable` }, toWebhook),
    test: (id, options) =>
      requestJson({ ...options, method: 'POST', path: `${pathOf(id)}/test` }, having<TestResult>('delivered')),
    deliveries(id, { limit, before, status } = {}, options) {
      const path = `${pathOf(id)}/deliveries${toQuery({ limit, before, status })}`;
      return requestJson({ ...options, method: 'GET', path }, (page) => toArray<Delivery>(page).map(toDelivery));
    },
    delivery(id, seq, options) {
      const path = `${pathOf(id)}/deliveries/${seq}`;
      return requestJson({ ...options, method: 'GET', path }, (delivery) => toDelivery(delivery as DeliveryDetail));
    },
    retry(id, seq, options) {
      const path = `${pathOf(id)}/deliveries/${seq}/retry`;
      return requestJson({ ...options, method: 'POST', path }, (delivery) => toDelivery(delivery as Delivery));
    },
    replay: (id, range, options) =>
      requestJson({ ...options, method: 'POST', path: `${pathOf(id)}/replay`, ...json(range) }, toWebhook),
  };
}

function pathOf(id: string): string {
  return `/webhooks/${encodeURIComponent(id)}`;
}

function toDelivery<T extends Delivery>(delivery: T): T {
  return { ...delivery, plant: BigInt(delivery.plant) };
}
