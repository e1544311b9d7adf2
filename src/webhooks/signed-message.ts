// Creates the message that a receiver gets for a change, signed according to Standard Webhooks 1.0. Its body is the
// NewPlant, or an event that contains the change.

import { createHmac, randomBytes } from 'node:crypto';
import packageJson from '../../package.json' with { type: 'json' };
import type { SentRequest } from '../domain/attempt-log.ts';
import type { Change } from '../domain/change.ts';
import type { WebhookFormat } from '../domain/names.ts';
import { WEBHOOK_PREFIX } from '../domain/token-secret.ts';
import type { StoredWebhook } from '../domain/webhook.ts';
import { printJson } from '../lib/exact-json.ts';

const SECRET_BYTES = 32;
const USER_AGENT = `plant-store/${packageJson.version}`;

/** The headers and body of a webhook request. */
export type Message = { headers: Record<string, string>; body: string };

/** A change, or the object in its place in a test message. */
type Sendable = Omit<Change, 'type'> & { type: string };

/** Returns a new random signing secret. */
export function mintWebhookSecret(): string {
  return WEBHOOK_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** Returns the message for a change. Every attempt for the same webhook has the same message id. */
export function toMessage(webhook: StoredWebhook, change: Change, nowMs: number): Message {
  return toSigned(webhook, messageId(webhook.id, change.seq), change, nowMs);
}

/** Returns a test message, which has the event `webhook.test`. */
export function toTestMessage(webhook: StoredWebhook, nowMs: number): Message {
  const id = messageId(webhook.id, `test_${randomBytes(6).toString('hex')}`);
  const plant = { id: 0n, name: 'Test', tag: 'test' };
  const test = { seq: 0, type: 'webhook.test', time: new Date(nowMs).toISOString(), plant, token: 'test' };
  return toSigned(webhook, id, test, nowMs);
}

/** Returns the part of a message that the change does not contain. `timeMs` is the time at which it was signed. */
export function toSentRequest({ headers }: Message, format: WebhookFormat, timeMs: number): SentRequest {
  return { timeMs, format, signature: headers['webhook-signature'] as string, userAgent: USER_AGENT };
}

/** Returns the message of an earlier attempt as it was sent. */
export function toSentMessage(webhookId: string, change: Change, sent: SentRequest): Message {
  return withHeaders(messageId(webhookId, change.seq), change.type, toBody(sent.format, change), sent);
}

function messageId(webhookId: string, rest: number | string): string {
  return `${webhookId.replace(/^whk_/, 'msg_')}_${rest}`;
}

function toBody(format: WebhookFormat, { seq, type, time, plant, token }: Sendable): string {
  return printJson(format === 'event' ? { type, timestamp: time, data: { seq, type, time, plant, token } } : plant);
}

function toSigned(webhook: StoredWebhook, id: string, sendable: Sendable, nowMs: number): Message {
  const { secret, oldSecret, format } = webhook;
  const body = toBody(format, sendable);
  const secrets = oldSecret && nowMs < oldSecret.untilMs ? [secret, oldSecret.secret] : [secret];
  const signature = secrets.map((one) => sign(one, `${id}.${toTimestamp(nowMs)}.${body}`)).join(' ');
  return withHeaders(id, sendable.type, body, { timeMs: nowMs, signature, userAgent: USER_AGENT });
}

function withHeaders(id: string, event: string, body: string, sent: Omit<SentRequest, 'format'>): Message {
  return {
    headers: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'user-agent': sent.userAgent,
      'webhook-id': id,
      'webhook-timestamp': String(toTimestamp(sent.timeMs)),
      'webhook-signature': sent.signature,
      'webhook-event': event,
    },
    body,
  };
}

function toTimestamp(ms: number): number {
  return Math.floor(ms / 1000);
}

function sign(secret: string, content: string): string {
  const key = Buffer.from(secret.slice(WEBHOOK_PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
}
