// Everything under /webhooks: receivers that are told of changes, and what became of each delivery.

import { z } from 'zod';
import { unavailable } from '../../domain/errors.ts';
import { DEFAULT_LIMIT } from '../../domain/page-size.ts';
import {
  DEFAULT_EVENTS,
  Delivery,
  describeWebhook,
  mintWebhookId,
  NewWebhook,
  OLD_SECRET_MS,
  Replay,
  TestResult,
  Webhook,
  type WebhookStore,
  WebhookWithSecret,
} from '../../domain/webhook.ts';
import { createSemaphore } from '../../lib/semaphore.ts';
import { type ReceiverClient, toTestResult } from '../../webhooks/receiver-client.ts';
import { mintWebhookSecret, toTestMessage } from '../../webhooks/signed-message.ts';
import type { TargetGuard } from '../../webhooks/target-guard.ts';
import { jsonBody } from '../core/json-body.ts';
import { before, deliveryStatus, webhookId as id, limit, seq } from '../core/parameters.ts';
import { NO_STORE, type Route, route } from '../core/route.ts';

/** A webhook reads plants for its receiver, so an admin who sets one up or has it send must be allowed to read them. */
const READS_PLANTS = ['admin', 'plants:read'] as const;
const NEW_SECRET = 'The webhook with its new secret, which is shown only now';
/** Each may take as long as an attempt does. */
export const MAX_TESTS = 16;

export interface WebhookTools {
  targetGuard: TargetGuard;
  receiverClient: ReceiverClient;
  /** What is sent, or how, has changed. */
  onChange(): void;
}

export function webhookRoutes(
  store: WebhookStore,
  basePath: string,
  { targetGuard, receiverClient, onChange }: WebhookTools,
  clock: () => number,
): Route[] {
  const runBounded = createSemaphore({
    maxConcurrent: MAX_TESTS,
    maxQueued: 0,
    waitMs: 0,
    tooBusy: () => unavailable('Too many tests are under way: try again later'),
  });
  return [
    route('POST /webhooks', 'addWebhook', READS_PLANTS, {
      summary: 'Have a receiver told of changes',
      description:
        'From now on each change is sent to it as the webhook `/plant/webhook` describes, in order for each plant, at least once.',
      body: jsonBody(NewWebhook),
      response: {
        status: 201,
        description: 'The webhook with its secret, which is shown only now',
        schema: WebhookWithSecret,
        headers: { Location: 'Path of the webhook', ...NO_STORE },
      },
      async handle({ body: { url, events = DEFAULT_EVENTS }, reply }) {
        const target = await targetGuard.check(url);
        const secret = mintWebhookSecret();
        const wanted = { id: mintWebhookId(), url: target, events: [...new Set(events)], secret, createdMs: clock() };
        const webhook = await store.addWebhook(wanted);
        onChange();
        reply.header('location', `${basePath}/webhooks/${webhook.id}`);
        return { ...describeWebhook(webhook, clock()), secret };
      },
    }),
    route('GET /webhooks', 'listWebhooks', 'admin', {
      summary: 'List all webhooks, oldest first',
      response: { description: 'Webhooks, without their secrets', schema: z.array(Webhook) },
      handle: async () => (await store.listWebhooks()).map((webhook) => describeWebhook(webhook, clock())),
    }),
    route('GET /webhooks/:id', 'getWebhook', 'admin', {
      summary: 'Read a webhook',
      parameters: { id },
      response: { description: 'The webhook, without its secret', schema: Webhook },
      errors: ['not_found'],
      handle: async ({ parameters: { id } }) => describeWebhook(await store.getWebhook(id), clock()),
    }),
    route('DELETE /webhooks/:id', 'removeWebhook', 'admin', {
      summary: 'Remove a webhook and all that is known of its deliveries',
      parameters: { id },
      response: { status: 204, description: 'It is removed' },
      errors: ['not_found'],
      async handle({ parameters: { id } }) {
        await store.removeWebhook(id);
        onChange();
      },
    }),
    route('POST /webhooks/:id/rotate', 'rotateSecret', READS_PLANTS, {
      summary: 'Give a webhook a new secret',
      description: 'For 24 hours everything is signed with the old secret, too, so that the receiver can change over.',
      parameters: { id },
      response: { description: NEW_SECRET, schema: WebhookWithSecret, headers: NO_STORE },
      errors: ['not_found'],
      async handle({ parameters: { id } }) {
        const secret = mintWebhookSecret();
        const webhook = await store.rotateSecret(id, secret, clock() + OLD_SECRET_MS);
        onChange();
        return { ...describeWebhook(webhook, clock()), secret };
      },
    }),
    route('POST /webhooks/:id/enable', 'enableWebhook', READS_PLANTS, {
      summary: 'Go on with a webhook that was disabled',
      description: 'Everything since then is sent, as far as it is still in the change log.',
      parameters: { id },
      response: { description: 'The webhook', schema: Webhook },
      errors: ['not_found'],
      async handle({ parameters: { id } }) {
        const webhook = await store.enableWebhook(id, clock());
        onChange();
        return describeWebhook(webhook, clock());
      },
    }),
    route('POST /webhooks/:id/test', 'testWebhook', 'admin', {
      summary: 'Send a message now, and tell what came of it',
      description: 'Its `webhook-event` is `webhook.test`. It is not listed, not tried again, and changes nothing.',
      parameters: { id },
      response: { description: 'What came of it', schema: TestResult },
      errors: ['not_found'],
      async handle({ parameters: { id } }) {
        const webhook = await store.getWebhook(id);
        return toTestResult(await runBounded(() => receiverClient.post(webhook.url, toTestMessage(webhook, clock()))));
      },
    }),
    route('GET /webhooks/:id/deliveries', 'listDeliveries', 'admin', {
      summary: 'List what became of the deliveries of a webhook, newest first',
      description:
        'All that wait or are dead letters, and the newest of those that were delivered, 1,000 at least. A token without `plants:read` does not see `answer`, since a receiver may send back the plant that it was sent.',
      parameters: { id, before, limit, status: deliveryStatus },
      response: {
        description: 'A page of deliveries',
        schema: z.array(Delivery),
        headers: { Link: 'The next page, `rel="next"` (RFC 8288); not there on the last one' },
      },
      errors: ['not_found'],
      async handle({ parameters: { id, ...query }, token, reply }) {
        const { limit = DEFAULT_LIMIT, status } = query;
        const found = await store.listDeliveries(id, { ...query, limit: limit + 1 });
        const page = found.slice(0, limit);
        const last = page.at(-1);
        if (last && found.length > limit) {
          reply.nextPage(`${basePath}/webhooks/${id}/deliveries`, { limit: query.limit, status, before: last.seq });
        }
        return token.scopes.includes('plants:read') ? page : page.map(({ answer: _, ...delivery }) => delivery);
      },
    }),
    route('POST /webhooks/:id/deliveries/:seq/retry', 'retryDelivery', READS_PLANTS, {
      summary: 'Send a change again, whatever became of it',
      description:
        'Now, and then as often as a new one. Its `webhook-id` is the one that it had. A webhook that is disabled sends it when it is enabled.',
      parameters: { id, seq },
      response: { status: 202, description: 'The delivery, which waits again', schema: Delivery },
      errors: ['not_found'],
      async handle({ parameters: { id, seq } }) {
        const delivery = await store.retryDelivery(id, seq, clock());
        onChange();
        return delivery;
      },
    }),
    route('POST /webhooks/:id/replay', 'replayChanges', READS_PLANTS, {
      summary: 'Send a range of changes again, whatever became of them',
      description:
        'Those of them that the webhook is told of, in order for each plant. What is new comes after them. Each `webhook-id` is the one that it had. A webhook that is disabled sends them when it is enabled.',
      parameters: { id },
      body: jsonBody(Replay),
      response: { status: 202, description: 'The webhook, with its position before the range', schema: Webhook },
      errors: ['not_found', 'changes_pruned'],
      async handle({ parameters: { id }, body }) {
        const webhook = await store.replay(id, body, clock());
        onChange();
        return describeWebhook(webhook, clock());
      },
    }),
  ];
}
