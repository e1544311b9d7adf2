// Tests of the rate of a token, and of wrong tokens from one address, on a running service.

import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CheckAnswer, createCheck } from '../../../testing/description.ts';
import { type Answer, callerOf, send } from '../../../testing/request.ts';
import { besideServer } from '../../../testing/server.ts';
import { startTestService, type TestService } from '../../../testing/service.ts';
import { until } from '../../../testing/until.ts';
import { renewSecret } from '../../domain/token.ts';
import { mintSecret } from '../../domain/token-secret.ts';

let server: TestService;
let check: CheckAnswer;
before(async () => {
  server = await startTestService({ env: { TRUST_PROXY: 'loopback,10.9.0.0/16' } });
  check = await createCheck(server.port);
});
after(() => server.stop());

/** Keeps connections open: on a busy machine, 200 new connections take longer than the limit needs to refill. */
const agent = new Agent({ keepAlive: true, maxSockets: 20 });
after(() => agent.destroy());

function get(secret: string, address = '203.0.113.1', path = '/plants'): Promise<Answer> {
  return send(server.port, { path, headers: { authorization: `Bearer ${secret}`, 'x-forwarded-for': address }, agent });
}

async function addLimited(rate: { count: number; periodMs: number }): Promise<string> {
  return (await server.addToken({ rate })).secret;
}

suite('the rate of a token', () => {
  test('every response reports the remaining requests, and excess requests get 429 with Retry-After', async () => {
    const secret = await addLimited({ count: 5, periodMs: 60_000 });
    const call = callerOf(server, secret);
    const answers = [
      await call('GET', '/plants'),
      await call('POST', '/plants', '{'),
      await call('GET', '/plants/nowhere/else'),
      await call('GET', '/tokens'),
      await call('HEAD', '/plants/1'),
    ];
    for (const { headers } of answers) {
      const seconds = Number(/;t=(\d+)$/.exec(String(headers.ratelimit))?.[1]);
      assert.ok(seconds > 0 && seconds <= 12, `${seconds} s`); // less on a busy machine
    }
    assert.deepEqual(
      answers.map(({ status, headers }) => [
        status,
        String(headers.ratelimit).replace(/\d+$/, ''),
        headers['ratelimit-policy'],
      ]),
      [
        [200, '"token";r=4;t=', '"token";q=5;w=60'],
        [400, '"token";r=3;t=', '"token";q=5;w=60'],
        [404, '"token";r=2;t=', '"token";q=5;w=60'],
        [403, '"token";r=1;t=', '"token";q=5;w=60'],
        [404, '"token";r=0;t=', '"token";q=5;w=60'],
      ],
    );
    const over = await call('POST', '/plants', '{"id":1,"name":"x"}');
    check('POST', '/plants', over);
    assert.deepEqual([over.status, JSON.parse(over.body).error], [429, 42900]);
    assert.match(JSON.parse(over.body).message, /^The token has exceeded its rate\. Retry in (\d|1[012]) s\.$/);
    assert.match(String(over.headers['retry-after']), /^(\d|1[012])$/);
    assert.equal(over.headers.ratelimit, `"token";r=0;t=${over.headers['retry-after']}`);
    assert.equal(over.headers['cache-control'], 'no-store');
    assert.equal((await get(server.secret, '203.0.113.1', '/plants/1')).status, 404, 'it has changed nothing');
  });

  test('the rate refills, and other tokens are not affected', async () => {
    const secret = await addLimited({ count: 4, periodMs: 1000 });
    const statuses = await atOnce(20, async () => (await get(secret)).status);
    assert.ok(statuses.filter((status) => status === 200).length >= 4);
    assert.ok(statuses.includes(429));
    const other = await get(server.secret);
    assert.deepEqual([other.status, other.headers.ratelimit], [200, undefined]);
    await sleep(300);
    assert.equal((await get(secret)).status, 200);
  });
});

suite('invalid tokens from one address', () => {
  test('get 401 a hundred times, then 429, while a valid token is still accepted', async () => {
    const address = '198.51.100.7';
    const used = (await server.addToken({})).secret;
    assert.equal((await get(used, address)).status, 200);
    const never = (await server.addToken({})).secret;

    const answers = await atOnce(200, (n) => get(n % 2 === 0 ? 'pst_guess' : mintSecret().replace(/.$/, '!'), address));
    const refused = answers.filter(({ status }) => status === 401).length;
    const [over] = answers.filter(({ status }) => status !== 401);
    assert.ok(refused >= 100 && refused < 200, String(refused));
    assert.equal(over?.status, 429);
    assert.deepEqual(
      [over?.headers['retry-after'], over?.headers.ratelimit, over?.headers['ratelimit-policy']],
      ['1', '"logins";r=0;t=1', '"logins";q=100;w=10'],
    );
    assert.equal(JSON.parse(over?.body ?? '').error, 42900);

    assert.equal((await get(used, address)).status, 200, 'one that was used before');
    assert.equal((await get(never, address)).status, 200, 'one that was never used');
    assert.equal((await get('pst_guess', '198.51.100.8')).status, 401, 'another address');
  });

  test('get delayed responses above the limit, and do not delay valid tokens', async (t) => {
    const address = '198.51.100.9';
    await atOnce(100, () => get('pst_guess', address));
    const rights = await Promise.all(Array.from({ length: 10 }, () => server.addToken({})));
    let guessing = true;
    t.after(() => {
      guessing = false;
    });
    const waits: number[] = [];
    const guessers = Array.from({ length: 20 }, async () => {
      while (guessing) {
        const begunMs = performance.now();
        const { status } = await get(mintSecret(), address);
        if (status === 429) waits.push(performance.now() - begunMs);
      }
    });
    await sleep(200);
    for (const { secret } of rights) assert.equal((await get(secret, address)).status, 200, 'one that was never used');
    await until(() => waits.length > 20);
    guessing = false;
    await Promise.all(guessers);
    assert.ok(Math.min(...waits) > 90, `${Math.min(...waits)} ms at least`);
  });

  test('do not include expired, revoked and replaced tokens', async () => {
    const address = '198.51.100.10';
    const expired = await server.addToken({ expiresMs: Date.now() - 1 });
    const [revoked, replaced] = [await server.addToken({}), await server.addToken({})];
    await besideServer(server.databaseUrl, async (store) => {
      await store.revokeToken(revoked.id, Date.now());
      await renewSecret(store, replaced.id, Date.now(), 0);
    });
    for (const { secret } of [expired, revoked, replaced]) {
      for (let n = 0; n < 50; n++) assert.equal((await get(secret, address)).status, 401);
    }
    assert.equal((await get('pst_guess', address)).status, 401);
  });
});

test('the limit applies to the address that a trusted proxy reports, so a forged address has no effect', async () => {
  const isLimited = async (...chain: string[]) => (await get('x', chain.join(', '))).status === 429;
  const first = await atOnce(200, (n) => isLimited(`192.0.2.${n}`, '198.51.100.20', '10.9.1.1'));
  assert.ok(first.includes(true));
  const others = await atOnce(15, () => isLimited('198.51.100.21', '10.9.1.1'));
  assert.ok(!others.includes(true));
});

/** Sends the requests concurrently, so that the limit hardly refills in between. */
function atOnce<T>(count: number, ask: (n: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => ask(n)));
}

for (const [title, env, forwardedFor, isLimited] of [
  ['without TRUST_PROXY a client cannot choose its address', {}, (n: number) => `192.0.2.${n}`, true],
  ['TRUST_PROXY=1 uses the address that one proxy reports', { TRUST_PROXY: '1' }, (n: number) => `192.0.2.${n}`, false],
  [
    'TRUST_PROXY=1 ignores addresses before that one',
    { TRUST_PROXY: '1' },
    (n: number) => `192.0.2.${n}, 203.0.113.9`,
    true,
  ],
] as const) {
  test(title, async () => {
    const { port, stop } = await startTestService({ env });
    const statuses = await atOnce(200, async (n) => {
      const headers = { authorization: 'Bearer x', 'x-forwarded-for': forwardedFor(n) };
      return (await send(port, { path: '/plants', headers, agent })).status;
    });
    assert.equal(statuses.includes(429), isLimited);
    await stop();
  });
}
