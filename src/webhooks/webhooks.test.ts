// Tests webhooks in a running server, on both databases.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { DATABASES } from '../../testing/both-databases.ts';
import { type CheckAnswer, createCheck } from '../../testing/description.ts';
import { makeDatabase, needsPostgres } from '../../testing/postgres.ts';
import { startReceiver } from '../../testing/receiver.ts';
import { apiCases, playRequests } from '../../testing/webhook-api-cases.ts';
import { changingCases } from '../../testing/webhook-changing-cases.ts';
import { resendingCases } from '../../testing/webhook-resending-cases.ts';
import { sendingCases } from '../../testing/webhook-sending-cases.ts';
import { startWebhookService, type WebhookService } from '../../testing/webhook-service.ts';

suite('webhooks', { concurrency: true }, () => {
  for (const [name, makeUrl, options] of DATABASES) {
    suite(`on ${name}`, { ...options, concurrency: 1 }, () => {
      let webhooks: WebhookService;
      before(async () => {
        webhooks = await startWebhookService({ databaseUrl: await makeUrl() });
      });
      after(() => webhooks.service.stop());

      sendingCases(() => webhooks);
      resendingCases(() => webhooks);
      apiCases(() => webhooks);
      changingCases(() => webhooks);

      test('Delivery resumes after a clean stop, and sends nothing twice', async () => {
        const receiver = await startReceiver();
        const { id } = await webhooks.add(receiver.url);
        for (let n = 100; n < 150; n++) await webhooks.call('PUT', `/plants/${n}`, { name: String(n) });
        await receiver.count(50);
        await webhooks.service.stop();
        webhooks = await startWebhookService({ databaseUrl: webhooks.service.databaseUrl });
        for (let n = 150; n < 160; n++) await webhooks.call('PUT', `/plants/${n}`, { name: String(n) });
        await receiver.count(60);
        await webhooks.settled(id, 60);
        assert.equal(new Set(receiver.received.map(({ seq }) => seq)).size, 60);
        assert.equal(receiver.received.length, 60);
        await webhooks.remove(id);
      });
    });
  }
});

suite('both databases', needsPostgres, () => {
  test('give the same responses, byte for byte, as the API description specifies', async () => {
    const both = await Promise.all([startWebhookService(), startWebhookService({ databaseUrl: await makeDatabase() })]);
    const checks = await Promise.all(both.map(({ service }) => createCheck(service.port)));
    const receiver = await startReceiver();
    const transcripts = await Promise.all(
      both.map((one, at) => playRequests(one, checks[at] as CheckAnswer, receiver.url)),
    );
    assert.ok((transcripts[0]?.length ?? 0) > 30);
    assert.deepEqual(transcripts[1], transcripts[0]);
    await Promise.all(both.map(({ service }) => service.stop()));
  });
});
