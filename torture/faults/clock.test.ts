// The clock of the machine jumps by a day and back under the running server, while tokens expire and webhooks wait for
// another attempt. Time that has passed is not faked: only the clock on the wall is.

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
/** One because it is due by the clock, one because it was due anyway, and one when the receiver is back. */
const MAX_ATTEMPTS_A_JUMP = 3;
/** Of a receiver that is down, so that the clock can be set meanwhile. */
const SLOW_FAILURE_MS = 50;

fault({
  name: 'clock ±1 day',
  mark: 'expiry goes by the clock at once; no retry storm, no delivery lost or held up',
  rounds: { short: 1, full: 12, of: 'jumps of a day, there and back' },
  skip: LIBRARY === undefined ? 'libfaketime is missing: apt-get install libfaketime' : undefined,
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
        setClock(jumped); // and the answer that comes then is a failure
        await sleep(700);
        await assertExpiry(server, expiring, Date.now() + jumped * DAY_MS);
        const time = JSON.parse((await call('GET', `/plants/${id}`)).body).created;
        assert.ok(Number.isFinite(Date.parse(time)));
        await create();
        const { headers, body } = await call('GET', '/plants?limit=2');
        const next = /<([^>]+)>/.exec(String(headers.link))?.[1] ?? '';
        assert.equal((await call('GET', next)).status, 200, `a cursor does not go by the clock: ${body}`);
        await sleep(2500);
        const perChange = (receiver.received.length - before) / id;
        most = Math.max(most, perChange);
        assert.ok(perChange <= MAX_ATTEMPTS_A_JUMP, `a retry storm: ${perChange} attempts of each change in 3 s`);
      }
      isDown = false;
      await sleep(5000); // an outage is one after so long
      await create();
      const missing = () => `${id - delivered.size} of ${id} were not delivered`;
      await until(() => delivered.size === id, 20_000, missing);
    }
    assert.equal(new Set(etags).size, etags.length, 'an ETag came twice');
    const { body } = await call('GET', '/events?limit=1000');
    const seqs = JSON.parse(body).map(({ seq }: { seq: number }) => seq);
    assert.deepEqual(
      seqs,
      seqs.toSorted((a: number, b: number) => a - b),
    );
    assert.equal(await server.stop(), 0);
    return `${id} changes, all delivered; ${most.toFixed(1)} attempts of each after a jump at most`;
  },
  controls: {
    'one that does not look at when a token ends': {
      change: ['src/domain/token.ts', '(token.expiresMs === null || nowMs < token.expiresMs)', 'nowMs > 0'],
      caught: /that ends .* answers 200/,
    },
    'one whose deliveries wait for the clock to come round again': {
      change: ['src/webhooks/delivery-times.ts', 'performance.now()', 'Date.now()'],
      caught: /were not delivered/,
    },
    'one that compares waits with the clock on the wall': {
      change: ['src/webhooks/webhook-delivery.ts', 'queue.next(clock.monotonicMs())', 'queue.next(clock.wallMs())'],
      caught: /a retry storm|were not delivered/,
    },
  },
});

/** By when they end. */
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
      `a token that ends in ${hours} h by the clock answers ${status}`,
    );
  }
}
