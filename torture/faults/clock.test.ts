// The wall clock jumps by a day and back under the running server, while tokens expire and webhooks wait for a retry.
// Only the wall clock is faked, not the monotonic clock.

import assert from 'node:assert/strict';
import { globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startReceiver } from '../../testing/receiver.ts';
import { callerOf } from '../../testing/request.ts';
import { addAdmin, addToken, makeFolder, type TestServer } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import { fault } from '../fault.ts';

const [LIBRARY] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const PLANTS = 10;
/** One attempt is due by the wall clock, one was due anyway, and one follows when the receiver is back. */
const MAX_ATTEMPTS_A_JUMP = 3;
/** Response time of a receiver that is down, so that the clock can change while a delivery is in flight. */
const SLOW_FAILURE_MS = 50;

fault({
  name: 'clock ±1 day',
  mark: 'Tokens expire by the wall clock immediately. No retry storm occurs, and no delivery is lost or delayed.',
  rounds: { short: 1, full: 12, of: 'jumps by a day and back' },
  skip: LIBRARY === undefined ? 'libfaketime is missing: run apt-get install libfaketime' : undefined,
  async trial({ rounds, random, startServer }) {
    const clock = join(makeFolder(), 'clock');
    const setClock = (days: number) => writeFileSync(clock, `${days < 0 ? '' : '+'}${days * 86_400}\n`);
    setClock(0);
    const server = await startServer({
      env: {
        LD_PRELOAD: LIBRARY ?? '',
        DONT_FAKE_MONOTONIC: '1',
        FAKETIME_TIMESTAMP_FILE: clock,
        FAKETIME_NO_CACHE: '1',
        WEBHOOK_ALLOW_PRIVATE: '1',
      },
    });
    const { call } = await addAdmin(server);
    const expiring = await makeExpiring(server);
    let isDown = false;
    const delivered = new Set<number>();
    let underWay = 0;
    const receiver = await startReceiver(async (_request, response, { body }) => {
      if (!isDown) {
        delivered.add(JSON.parse(body).id);
        response.writeHead(200).end();
        return;
      }
      underWay++;
      await sleep(SLOW_FAILURE_MS);
      underWay--;
      response.writeHead(500).end();
    });
    assert.equal((await call('POST', '/webhooks', { url: receiver.url })).status, 201);
    let id = 0;
    let most = 0;
    const etags: string[] = [];
    const create = async () => {
      const { status, headers } = await call('POST', '/plants', { id: ++id, name: 'x' });
      assert.equal(status, 200);
      etags.push(String(headers.etag));
    };

    for (let round = 0; round < rounds; round++) {
      const days = round === 0 ? 1 : round === 1 ? -1 : random.pick([1, -1]);
      isDown = true;
      for (let n = 0; n < PLANTS; n++) await create();
      await sleep(1000);
      for (const jumped of [days, 0]) {
        const before = receiver.received.length;
        await until(() => underWay > 0);
        setClock(jumped); // the delivery in flight fails after the jump
        await sleep(700);
        await assertExpiry(server, expiring, Date.now() + jumped * DAY_MS);
        const time = JSON.parse((await call('GET', `/plants/${id}`)).body).created;
        assert.ok(Number.isFinite(Date.parse(time)));
        await create();
        const { headers, body } = await call('GET', '/plants?limit=2');
        const next = /<([^>]+)>/.exec(String(headers.link))?.[1] ?? '';
        assert.equal((await call('GET', next)).status, 200, `a cursor depends on the clock: ${body}`);
        await sleep(2500);
        const perChange = (receiver.received.length - before) / id;
        most = Math.max(most, perChange);
        assert.ok(perChange <= MAX_ATTEMPTS_A_JUMP, `a retry storm: ${perChange} attempts per change in 3 s`);
      }
      isDown = false;
      await sleep(5000); // failures count as an outage after 5 s
      await create();
      const missing = () => `${id - delivered.size} of ${id} changes were not delivered`;
      await until(() => delivered.size === id, 20_000, missing);
    }
    assert.equal(new Set(etags).size, etags.length, 'an ETag was used twice');
    const { body } = await call('GET', '/events?limit=1000');
    const seqs = JSON.parse(body).map(({ seq }: { seq: number }) => seq);
    assert.deepEqual(
      seqs,
      seqs.toSorted((a: number, b: number) => a - b),
    );
    assert.equal(await server.stop(), 0);
    return `${id} changes, all delivered; at most ${most.toFixed(1)} attempts per change after a jump`;
  },
  controls: {
    'does not check when a token expires': {
      change: ['src/domain/token.ts', '(token.expiresMs === null || nowMs < token.expiresMs)', 'nowMs > 0'],
      caught: /expires in .* returned 200/,
    },
    'schedules deliveries by the wall clock': {
      change: ['src/webhooks/delivery-times.ts', 'performance.now()', 'Date.now()'],
      caught: /changes were not delivered/,
    },
    'compares retry times with the wall clock': {
      change: ['src/webhooks/webhook-delivery.ts', 'queue.next(clock.monotonicMs())', 'queue.next(clock.wallMs())'],
      caught: /a retry storm|changes were not delivered/,
    },
  },
});

/** Creates tokens that expire at different times. Returns their secrets by expiry time. */
async function makeExpiring({ databaseUrl }: TestServer): Promise<Map<number, string>> {
  const all = new Map<number, string>();
  for (const hours of [-30, -2, 2, 30]) {
    const expiresMs = Date.now() + hours * HOUR_MS;
    all.set(expiresMs, (await addToken(databaseUrl, { expiresMs })).secret);
  }
  return all;
}

async function assertExpiry(server: TestServer, expiring: Map<number, string>, nowMs: number): Promise<void> {
  for (const [expiresMs, secret] of expiring) {
    const { status } = await callerOf(server, secret)('GET', '/plants?limit=1');
    const hours = Math.round((expiresMs - nowMs) / HOUR_MS);
    assert.equal(
      status,
      nowMs < expiresMs ? 200 : 401,
      `a token that expires in ${hours} h by the clock returned ${status}`,
    );
  }
}
