// The routes under /webhooks, which manage webhooks and their deliveries.

import { z } from 'zod';
import { Delivery, DeliveryDetail, Replay, TestResult } from '../../domain/delivery.ts';
import { DEFAULT_LIMIT } from '../../domain/page-size.ts';
import { NewWebhook, Webhook, WebhookPatch, WebhookWithSecret } from '../../domain/webhook.ts';
import type { WebhookStore } from '../../domain/webhook-store.ts';
import { createWebhookOperations, type WebhookTools } from '../../webhooks/webhook-operations.ts';
import { createSlots } from '../access/fair-share.ts';
import type { SharedLimits } from '../access/shared-limits.ts';
import { jsonBody } from '../core/json-body.ts';
import { before, deliveryStatus, webhookId as id, limit, seq } from '../core/parameters.ts';
import { NO_STORE, type Route, route } from '../core/route.ts';

/** A webhook sends plants to its receiver, so creating, changing or triggering one also requires the scope to read plants. */
const READS_PLANTS = ['admin', 'plants:read'] as const;
const NEW_SECRET = 'The webhook with its new secret, which is shown only in this response';
/** Maximum number of concurrent tests. Each can take as long as a delivery attempt. */
export const MAX_TESTS = 16;

export function webhookRoutes(
  store: WebhookStore,
  basePath: string,
  tools: WebhookTools,
  { counts }: SharedLimits,
  clock: () => number,
): Route[] {
  const webhooks = createWebhookOperations(store, tools, clock);
  const takeTest = createSlots(counts, MAX_TESTS, 'tests');
  return [
    route('POST /webhooks', 'addWebhook', READS_PLANTS, {
      summary: 'Create a webhook',
      description:
        'Creates a webhook and returns it with its secret. Store the secret, because the server does not show it again. ' +
        'The server sends each later change to the URL, as described under the webhook `/plant/webhook`. ' +
        'It delivers each change at least once, and the changes of one plant in order.',
      body: jsonBody(NewWebhook),
      response: {
        status: 201,
        description: 'The webhook with its secret, which is shown only in this response',
        schema: WebhookWithSecret,
        headers: {
          Location: { description: 'Path of the webhook', example: '/webhooks/whk_3HqL0aYbT5nR' },
          ...NO_STORE,
        },
      },
      async handle({ body, reply }) {
        const webhook = await webhooks.create(body);
        reply.header('location', `${basePath}/webhooks/${webhook.id}`);
        return webhook;
      },
    }),
    route('GET /webhooks', 'listWebhooks', 'admin', {
      takesTurn: true,
      summary: 'List all webhooks',
      description: 'Returns all webhooks, oldest first, without their secrets.',
      response: { description: 'All webhooks, without their secrets', schema: z.array(Webhook) },
      handle: () => webhooks.list(),
    }),
    route('GET /webhooks/:id', 'getWebhook', 'admin', {
      summary: 'Get a webhook',
      description: 'Returns a webhook by its id, without its secret.',
      parameters: { id },
      response: { description: 'The webhook, without its secret', schema: Webhook },
      errors: ['not_found'],
      handle: ({ parameters: { id } }) => webhooks.get(id),
    }),
    route('PATCH /webhooks/:id', 'updateWebhook', READS_PLANTS, {
      summary: 'Change a webhook',
      description:
        'Changes the given fields and returns the webhook. Other nodes apply the change within a second. New events apply to ' +
        'all changes after `position`. Deliveries that are already waiting are still sent. After a new `url` or `events`, the ' +
        'server can send changes of the last seconds again. A new `url` makes all waiting deliveries due. ' +
        '`enabled` does nothing if the webhook has that state already.',
      parameters: { id },
      body: jsonBody(WebhookPatch, 'application/merge-patch+json'),
      response: { description: 'The webhook', schema: Webhook },
      errors: ['not_found'],
      handle: ({ parameters: { id }, body }) => webhooks.update(id, body),
    }),
    route('DELETE /webhooks/:id', 'removeWebhook', 'admin', {
      summary: 'Delete a webhook',
      description: 'Deletes a webhook and the records of its deliveries.',
      parameters: { id },
      response: { status: 204, description: 'The webhook is deleted' },
      errors: ['not_found'],
      handle: ({ parameters: { id } }) => webhooks.delete(id),
    }),
    route('POST /webhooks/:id/rotate', 'rotateSecret', READS_PLANTS, {
      summary: 'Rotate the secret of a webhook',
      description:
        'Replaces the secret of a webhook and returns the new secret. For 24 hours, the server signs deliveries with both ' +
        'secrets, so that the receiver can switch.',
      parameters: { id },
      response: { description: NEW_SECRET, schema: WebhookWithSecret, headers: NO_STORE },
      errors: ['not_found'],
      handle: ({ parameters: { id } }) => webhooks.rotate(id),
    }),
    route('POST /webhooks/:id/enable', 'enableWebhook', READS_PLANTS, {
      summary: 'Enable a webhook',
      description:
        'Resumes a disabled webhook and returns it. The server sends all changes since the webhook was disabled, except for pruned ones.',
      parameters: { id },
      response: { description: 'The webhook', schema: Webhook },
      errors: ['not_found'],
      handle: ({ parameters: { id } }) => webhooks.update(id, { enabled: true }),
    }),
    route('POST /webhooks/:id/test', 'testWebhook', 'admin', {
      summary: 'Test a webhook',
      description:
        'Sends a test message to the receiver and returns the result. Its `webhook-event` is `webhook.test`. The server does ' +
        'not retry the message and does not list it as a delivery. The status of the webhook does not change.',
      parameters: { id },
      response: { description: 'The result of the test', schema: TestResult },
      errors: ['not_found'],
      async handle({ parameters: { id } }) {
        using cleanUp = new DisposableStack();
        cleanUp.defer(takeTest());
        return await webhooks.test(id);
      },
    }),
    route('GET /webhooks/:id/deliveries', 'listDeliveries', 'admin', {
      takesTurn: true,
      summary: 'List the deliveries of a webhook',
      description:
        'Returns a page of deliveries, newest first. The list has all deliveries that are waiting or dead, and at least the newest ' +
        '1,000 that were delivered. `answer` is only present for tokens with the scope `plants:read`, because a receiver ' +
        'can return the plant that it was sent.',
      parameters: { id, before, limit, status: deliveryStatus },
      response: {
        description: 'A page of deliveries',
        schema: z.array(Delivery),
        headers: {
          Link: {
            description: 'URL of the next page with `rel="next"` (RFC 8288). Absent on the last page.',
            example: '</webhooks/whk_3HqL0aYbT5nR/deliveries?before=942>; rel="next"',
          },
        },
      },
      errors: ['not_found'],
      async handle({ parameters: { id, ...query }, token, reply }) {
        const { limit = DEFAULT_LIMIT, status } = query;
        const found = await webhooks.deliveries(id, { ...query, limit: limit + 1 });
        const page = found.slice(0, limit);
        const last = page.at(-1);
        if (last && found.length > limit) {
          reply.nextPage(`${basePath}/webhooks/${id}/deliveries`, { limit: query.limit, status, before: last.seq });
        }
        return token.scopes.includes('plants:read') ? page : page.map(({ answer: _, ...delivery }) => delivery);
      },
    }),
    route('GET /webhooks/:id/deliveries/:seq', 'getDelivery', READS_PLANTS, {
      summary: 'Get a delivery',
      description:
        'Returns a delivery with the newest request as it was sent, and the newest 10 attempts. ' +
        'The scope `plants:read` is required, because the request contains the plant.',
      parameters: { id, seq },
      response: { description: 'The delivery', schema: DeliveryDetail },
      errors: ['not_found'],
      handle: ({ parameters: { id, seq } }) => webhooks.delivery(id, seq),
    }),
    route('POST /webhooks/:id/deliveries/:seq/retry', 'retryDelivery', READS_PLANTS, {
      summary: 'Retry a delivery',
      description:
        'Sends a change again, with any status of its delivery, and returns the delivery. The server attempts it now, with the ' +
        'same number of retries as for a new change. The `webhook-id` stays the same. A disabled webhook sends the change ' +
        'after you enable it.',
      parameters: { id, seq },
      response: { status: 202, description: 'The delivery, which is waiting again', schema: Delivery },
      errors: ['not_found'],
      handle: ({ parameters: { id, seq } }) => webhooks.retry(id, seq),
    }),
    route('POST /webhooks/:id/replay', 'replayChanges', READS_PLANTS, {
      summary: 'Replay a range of changes',
      description:
        'Sends all changes in a range again, if the webhook sends their type, and returns the webhook. The changes of one plant ' +
        'are sent in order, and new changes follow after the range. Each `webhook-id` stays the same. A disabled webhook sends ' +
        'the changes after you enable it.',
      parameters: { id },
      body: jsonBody(Replay),
      response: { status: 202, description: 'The webhook, with its position before the range', schema: Webhook },
      errors: ['not_found', 'changes_pruned'],
      handle: ({ parameters: { id }, body }) => webhooks.replay(id, body),
    }),
  ];
}
