import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import type { StoredWebhook } from '../domain/webhook.ts';
import { mintWebhookSecret, toMessage, toSentMessage, toSentRequest, toTestMessage } from './signed-message.ts';

const NOW = Date.now();
const CHANGE = {
  seq: 1042,
  type: 'plant.updated',
  time: '',
  plant: { id: 9223372036854775807n, name: 'Été "indien" 🌵', tag: '' },
  token: 'cli',
} as const;

function webhookWith(secret: string, oldSecret: StoredWebhook['oldSecret'] = null): StoredWebhook {
  return { id: 'whk_abc', format: 'plant', secret, oldSecret } as StoredWebhook;
}

test('A message contains the NewPlant with its exact id, and verifies with the public library', () => {
  const secret = mintWebhookSecret();
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  const { headers, body } = toMessage(webhookWith(secret), CHANGE, NOW);
  assert.equal(body, '{"id":9223372036854775807,"name":"Été \\"indien\\" 🌵","tag":""}');
  assert.equal(headers['content-length'], String(Buffer.byteLength(body)));
  assert.equal(headers['webhook-event'], 'plant.updated');
  assert.equal(headers['webhook-id'], 'msg_abc_1042');
  new Webhook(secret).verify(body, headers);
  assert.throws(() => new Webhook(secret).verify(body.replace('807', '808'), headers), /No matching signature/);
  assert.throws(() => new Webhook(mintWebhookSecret()).verify(body, headers), /No matching signature/);
  assert.throws(() => new Webhook(secret).verify(body, { ...headers, 'webhook-id': 'msg_abc_1043' }), /No matching/);
});

test('Both secrets verify during a rotation, and only the new one afterwards', () => {
  const [secret, old] = [mintWebhookSecret(), mintWebhookSecret()];
  const webhook = webhookWith(secret, { secret: old, untilMs: NOW });
  const before = toMessage(webhook, CHANGE, NOW - 1);
  for (const one of [secret, old]) new Webhook(one).verify(before.body, before.headers);
  const after = toMessage(webhook, CHANGE, NOW);
  new Webhook(secret).verify(after.body, after.headers);
  assert.throws(() => new Webhook(old).verify(after.body, after.headers), /No matching signature/);
});

test('A test message verifies, has the event webhook.test and a unique id', () => {
  const webhook = webhookWith(mintWebhookSecret());
  const [one, other] = [toTestMessage(webhook, NOW), toTestMessage(webhook, NOW)];
  new Webhook(webhook.secret).verify(one.body, one.headers);
  assert.equal(one.headers['webhook-event'], 'webhook.test');
  assert.notEqual(one.headers['webhook-id'], other.headers['webhook-id']);
});

test('A message can be derived again from its change and the log, also after the secret has changed', () => {
  for (const format of ['plant', 'event'] as const) {
    const webhook = { ...webhookWith(mintWebhookSecret()), format };
    const message = toMessage(webhook, CHANGE, NOW);
    assert.deepEqual(toSentMessage('whk_abc', CHANGE, toSentRequest(message, format, NOW)), message);
  }
});
