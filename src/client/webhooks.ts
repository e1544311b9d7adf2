// Webhooks over HTTP, for the client. All that changes or sends something is asked for once only.

import type {
  Delivery,
  DeliveryQuery,
  NewWebhook,
  Replay,
  TestResult,
  Webhook,
  WebhookWithSecret,
} from '../domain/webhook.ts';
import { type CallOptions, json, type Requester, toQuery } from './request.ts';

/** All of them need the scope `admin`; `create`, `rotate`, `enable`, `retry` and `replay` need `plants:read`, too. */
export interface WebhooksClient {
  /** Its secret is in this answer, and in no other. */
  create(webhook: NewWebhook, options?: CallOptions): Promise<WebhookWithSecret>;
  /** Oldest first. */
  list(options?: CallOptions): Promise<Webhook[]>;
  get(id: string, options?: CallOptions): Promise<Webhook>;
  delete(id: string, options?: CallOptions): Promise<void>;
  /** For 24 hours the old secret signs, too. */
  rotate(id: string, options?: CallOptions): Promise<WebhookWithSecret>;
  /** Goes on with one that was disabled. */
  enable(id: string, options?: CallOptions): Promise<Webhook>;
  /** Sends a message now; may take 15 s. */
  test(id: string, options?: CallOptions): Promise<TestResult>;
  /** Newest first. The next page is `before` the last of this one. */
  deliveries(id: string, query?: DeliveryQuery, options?: CallOptions): Promise<Delivery[]>;
  /** Sends a change again, whatever became of it. */
  retry(id: string, seq: number, options?: CallOptions): Promise<Delivery>;
  /** The same with a range of them. */
  replay(id: string, range: Replay, options?: CallOptions): Promise<Webhook>;
}

export function createWebhooksClient({ requestJson, request }: Requester): WebhooksClient {
  return {
    create: (webhook, options) => requestJson({ ...options, method: 'POST', path: '/webhooks', ...json(webhook) }),
    list: (options) => requestJson({ ...options, method: 'GET', path: '/webhooks' }),
    get: (id, options) => requestJson({ ...options, method: 'GET', path: pathOf(id) }),
    async delete(id, options) {
      await request({ ...options, method: 'DELETE', path: pathOf(id) }, (response) => response.text());
    },
    rotate: (id, options) => requestJson({ ...options, method: 'POST', path: `${pathOf(id)}/rotate` }),
    enable: (id, options) => requestJson({ ...options, method: 'POST', path: `${pathOf(id)}/enable` }),
    test: (id, options) => requestJson({ ...options, method: 'POST', path: `${pathOf(id)}/test` }),
    deliveries(id, { limit, before, status } = {}, options) {
      const path = `${pathOf(id)}/deliveries${toQuery({ limit, before, status })}`;
      return requestJson({ ...options, method: 'GET', path }, (page) => (page as Delivery[]).map(toDelivery));
    },
    retry(id, seq, options) {
      const path = `${pathOf(id)}/deliveries/${seq}/retry`;
      return requestJson({ ...options, method: 'POST', path }, (delivery) => toDelivery(delivery as Delivery));
    },
    replay: (id, range, options) =>
      requestJson({ ...options, method: 'POST', path: `${pathOf(id)}/replay`, ...json(range) }),
  };
}

function pathOf(id: string): string {
  return `/webhooks/${encodeURIComponent(id)}`;
}

function toDelivery(delivery: Delivery): Delivery {
  return { ...delivery, plant: BigInt(delivery.plant) };
}
