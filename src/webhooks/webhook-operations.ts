// The operations on webhooks and their deliveries that the API and the commands offer.

import type { Delivery, DeliveryDetail, Replay, TestResult } from '../domain/delivery.ts';
import {
  DEFAULT_EVENTS,
  describeWebhook,
  mintWebhookId,
  type NewWebhook,
  OLD_SECRET_MS,
  type Webhook,
  type WebhookPatch,
  type WebhookWithSecret,
} from '../domain/webhook.ts';
import type { DeliveryQuery, LoggedDelivery, WebhookStore } from '../domain/webhook-store.ts';
import { toIsoTime } from '../lib/iso-time.ts';
import { type ReceiverClient, toTestResult } from './receiver-client.ts';
import { mintWebhookSecret, toSentMessage, toTestMessage } from './signed-message.ts';
import type { TargetGuard } from './target-guard.ts';

export interface WebhookTools {
  targetGuard: TargetGuard;
  receiverClient: ReceiverClient;
  /** Must be called after any change. With an id, nothing more is sent by the old state of that webhook. */
  onChange(id?: string): void | Promise<void>;
}

/** Operations on the webhooks of a store. Those that take an id throw `not_found`. */
export interface WebhookOperations {
  /** Adds a webhook. Its secret cannot be read again. */
  create(wanted: NewWebhook): Promise<WebhookWithSecret>;
  /** Returns all webhooks, oldest first. */
  list(): Promise<Webhook[]>;
  get(id: string): Promise<Webhook>;
  update(id: string, patch: WebhookPatch): Promise<Webhook>;
  delete(id: string): Promise<void>;
  /** Creates a new secret. For 24 hours the old one also signs deliveries. */
  rotate(id: string): Promise<WebhookWithSecret>;
  /** Sends a test message and returns the response of the receiver. */
  test(id: string): Promise<TestResult>;
  /** Returns deliveries, newest first. */
  deliveries(id: string, query?: DeliveryQuery): Promise<Delivery[]>;
  delivery(id: string, seq: number): Promise<DeliveryDetail>;
  /** Sends a change again, with any status of its delivery. */
  retry(id: string, seq: number): Promise<Delivery>;
  /** Sends a range of changes again. Throws `changes_pruned`. */
  replay(id: string, range: Replay): Promise<Webhook>;
}

export function createWebhookOperations(
  store: WebhookStore,
  { targetGuard, receiverClient, onChange }: WebhookTools,
  clock: () => number,
): WebhookOperations {
  return {
    async create({ url, events = DEFAULT_EVENTS, format, name }) {
      const target = { url: await targetGuard.check(url), events: [...new Set(events)] };
      const secret = mintWebhookSecret();
      const own = { id: mintWebhookId(), secret, createdMs: clock() };
      const webhook = await store.addWebhook({ ...own, ...target, ...(format && { format }), ...(name && { name }) });
      await onChange();
      return { ...describeWebhook(webhook, clock()), secret };
    },
    list: async () => (await store.listWebhooks()).map((webhook) => describeWebhook(webhook, clock())),
    get: async (id) => describeWebhook(await store.getWebhook(id), clock()),
    async update(id, { url, events, ...others }) {
      const target = url === undefined ? undefined : await targetGuard.check(url);
      const patch = { ...others, ...(target && { url: target }), ...(events && { events: [...new Set(events)] }) };
      const webhook = await store.updateWebhook(id, patch, clock());
      await onChange(id);
      return describeWebhook(webhook, clock());
    },
    async delete(id) {
      await store.removeWebhook(id);
      await onChange(id);
    },
    async rotate(id) {
      const secret = mintWebhookSecret();
      const webhook = await store.rotateSecret(id, secret, clock() + OLD_SECRET_MS);
      await onChange();
      return { ...describeWebhook(webhook, clock()), secret };
    },
    async test(id) {
      const webhook = await store.getWebhook(id);
      return toTestResult(await receiverClient.post(webhook.url, toTestMessage(webhook, clock())));
    },
    deliveries: (id, query) => store.listDeliveries(id, query),
    delivery: async (id, seq) => describeDelivery(id, await store.getDelivery(id, seq)),
    async retry(id, seq) {
      const delivery = await store.retryDelivery(id, seq, clock());
      await onChange();
      return delivery;
    },
    async replay(id, range) {
      const webhook = await store.replay(id, range, clock());
      await onChange(id);
      return describeWebhook(webhook, clock());
    },
  };
}

/** Returns the API form of a delivery with its attempts. */
function describeDelivery(webhookId: string, { delivery, change, attempts }: LoggedDelivery): DeliveryDetail {
  const [newest] = attempts;
  return {
    ...delivery,
    ...(newest && { request: toSentMessage(webhookId, change, newest) }),
    history: attempts.map(({ timeMs, durationMs, code, answer, error }) => ({
      time: toIsoTime(timeMs),
      milliseconds: Math.round(durationMs),
      ...(code !== undefined && { code }),
      ...(answer !== undefined && { answer }),
      ...(error !== undefined && { error }),
    })),
  };
}
