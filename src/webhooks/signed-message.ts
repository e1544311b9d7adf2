// Creates the message that a receiver gets for a change: the NewPlant, signed according to Standard Webhooks 1.0.

import { createHmac, randomBytes } from 'node:crypto';
import packageJson from '../../package.json' with { type: 'json' };
import type { Change } from '../domain/change.ts';
import { WEBHOOK_PREFIX } from '../domain/token-secret.ts';
import type { StoredWebhook } from '../domain/webhook.ts';
import { printJson } from '../lib/exact-json.ts';

const SECRET_BYTES = 32;

/** The headers and body of a webhook request. */
export type Message = { headers: Record<string, string>; body: string };

/** Returns a new random signing secret. */
export function mintWebhookSecret(): string {
  return WEBHOOK_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** Returns the message for a change. Every attempt for the same webhook has the same message id. */
export function toMessage(webhook: StoredWebhook, { seq, type, plant }: Change, nowMs: number): Message {
  return toSigned(webhook, `${messagePrefix(webhook)}_${seq}`, type, printJson(plant), nowMs);
}

/** Returns a test message: a NewPlant with the event `webhook.test`. */
export function toTestMessage(webhook: StoredWebhook, nowMs: number): Message {
  const id = `${messagePrefix(webhook)}_test_${randomBytes(6).toString('hex')}`;
  return toSigned(webhook, id, 'webhook.test', '{"id":0,"name":"Test","tag":"test"}', nowMs);
}

function messagePrefix({ id }: StoredWebhook): string {
  return id.replace(/^whk_/, 'msg_');
}

function toSigned(webhook: StoredWebhook, id: string, event: string, body: string, nowMs: number): Message {
  const timestamp = Math.floor(nowMs / 1000);
  const { secret, oldSecret } = webhook;
  const secrets = oldSecret && nowMs < oldSecret.untilMs ? [secret, oldSecret.secret] : [secret];
  const signatures = secrets.map((one) => sign(one, `${id}.${timestamp}.${body}`));
  return {
    headers: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'user-agent': `plant-store/${packageJson.version}`,
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatures.join(' '),
      'webhook-event': event,
    },
    body,
  };
}

function sign(secret: string, content: string): string {
  const key = Buffer.from(secret.slice(WEBHOOK_PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
}
