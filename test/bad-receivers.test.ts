// Receivers that hang, drip, flood, redirect and refuse, side by side with good ones, while plants change all the time.
// RECEIVERS_SECONDS=30 and CHANGES_PER_SECOND=1000 make it what it is meant to be.

import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDatabase, needsPostgres } from './postgres.ts';
import { type Handler, type Received, type Receiver, startReceiver } from './receiver.ts';
import { callerOf } from './request.ts';
import { addToken, residentKib, startServer } from './server.ts';

const SECONDS = Number(process.env.RECEIVERS_SECONDS ?? 2);
const CHANGES_PER_SECOND = Number(process.env.CHANGES_PER_SECOND ?? 100);
const PLANTS = 200;
const WITHIN_MS = 2000;
const GIGABYTE = 1e9;

const BAD: Record<string, Handler> = {
  hangs: () => {},
  'drips its answer'(_request, response) {
    const { socket } = response;
    let at = 0;
    const drip = setInterval(() => socket?.write('HTTP/1.1 200 OK\r\n'[at++] ?? 'x'), 900);
    socket?.on('close', () => clearInterval(drip));
  },
  'answers 1 GB'(_request, response) {
    const block = Buffer.alloc(256 * 1024, 'x');
    let sent = 0;
    response.writeHead(200, { 'content-length': GIGABYTE });
    const flood = (): void => {
      while (!response.destroyed && sent < GIGABYTE) {
        sent += block.length;
        if (!response.write(block)) return void response.once('drain', flood);
      }
    };
    flood();
  },
  'answers 410': (_request, response) => response.writeHead(410).end(),
  'answers 429': (_request, response) => response.writeHead(429, { 'retry-after': '3600' }).end(),
  'answers 500': (_request, response) => response.writeHead(500).end(),
};

for (const [name, makeUrl, options] of [
  ['SQLite', async () => undefined, {}],
  ['PostgreSQL', makeDatabase, needsPostgres],
] as const) {
  suite(`bad receivers beside good ones, on ${name}`, options, () => {
    test(`good ones get all of ${CHANGES_PER_SECOND} changes a second within ${WITHIN_MS / 1000} s, in order`, async (t) => {
      const databaseUrl = await makeUrl();
      const server = await startServer({ ...(databaseUrl && { databaseUrl }), env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
      const { secret } = await addToken(server.databaseUrl, { scopes: ['admin', 'plants:write'] });
      const call = callerOf(server, secret);
      const events = ['plant.created', 'plant.updated', 'plant.deleted'];
      const add = async ({ url }: Receiver) => JSON.parse((await call('POST', '/webhooks', { url, events })).body).id;

      const trap = await startReceiver();
      const bad = new Map<string, Receiver>();
      for (const [what, handler] of Object.entries(BAD)) bad.set(what, await startReceiver(handler));
      bad.set(
        'redirects',
        await startReceiver((_request, response) => response.writeHead(302, { location: trap.url }).end()),
      );
      const badIds = new Map<string, string>();
      for (const [what, receiver] of bad) badIds.set(what, await add(receiver));
      const good = [await startReceiver(), await startReceiver()];
      for (const receiver of good) await add(receiver);

      const committedMs = await change(server.port, secret);
      const before = residentKib(server);
      await Promise.all(good.map((receiver) => allReceived(receiver, committedMs.size)));
      await sleep(200);

      for (const receiver of good) {
        const firsts = firstOfEach(receiver.received);
        assert.equal(firsts.size, committedMs.size, 'each change came');
        const lateMs = [...firsts.values()].map(
          ({ body, atMs }) => atMs - (committedMs.get(nameIn(body)) ?? Number.NaN),
        );
        const slowest = Math.max(...lateMs);
        const median = lateMs.sort((a, b) => a - b)[Math.floor(lateMs.length / 2)] ?? 0;
        t.diagnostic(`${firsts.size} changes, median ${Math.round(median)} ms, slowest ${Math.round(slowest)} ms`);
        assert.ok(slowest <= WITHIN_MS, `the slowest took ${slowest} ms`);
        assertOrder([...firsts.values()]);
        assert.equal(receiver.received.length, firsts.size, 'nothing came twice');
      }
      const tried = Object.fromEntries([...bad].map(([what, { received }]) => [what, received.length]));
      t.diagnostic(`requests to the others: ${JSON.stringify(tried)}; server ${Math.round(before / 1024)} MiB`);
      assert.equal(trap.connections(), 0, 'a redirect was followed');
      assert.equal(tried['answers 410'], 1);
      assert.equal(tried['answers 429'], 1);
      for (const what of ['hangs', 'drips its answer', 'answers 500', 'redirects']) {
        assert.ok((tried[what] ?? 0) >= 1 && (tried[what] ?? 0) <= 10 + 2 * SECONDS, `${what}: ${tried[what]}`);
      }
      assert.ok((tried['answers 1 GB'] ?? 0) > 1, 'its status counts');
      const status = async (what: string) =>
        JSON.parse((await call('GET', `/webhooks/${badIds.get(what)}`)).body).status as string;
      assert.equal(await status('answers 410'), 'disabled');
      assert.equal(await status('answers 500'), 'failing');
      assert.equal(await status('redirects'), 'failing');
      assert.ok(before < 256 * 1024, `${before} KiB`);
      assert.equal(await server.stop(), 0, 'receivers that hang do not keep it from stopping');
    });
  });
}

/** The names that were stored, each with when it was known to be. */
async function change(port: number, secret: string): Promise<Map<string, number>> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const committedMs = new Map<string, number>();
  const underWay: Promise<void>[] = [];
  const startMs = performance.now();
  const total = SECONDS * CHANGES_PER_SECOND;
  for (let n = 0; n < total; ) {
    const dueMs = performance.now() - startMs;
    while (n < total && n < (dueMs / 1000) * CHANGES_PER_SECOND) underWay.push(put(n++));
    await sleep(5);
  }
  await Promise.all(underWay);
  agent.destroy();
  return committedMs;

  function put(n: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
      const options = { host: '127.0.0.1', port, method: 'PUT', path: `/plants/${n % PLANTS}`, headers, agent };
      const sent = request(options, (response) => {
        response.resume().on('end', () => {
          assert.equal(response.statusCode, 200);
          committedMs.set(`change ${n}`, performance.now());
          resolve();
        });
      });
      sent.on('error', reject);
      sent.end(`{"name":"change ${n}"}`);
    });
  }
}

async function allReceived({ received }: Receiver, wanted: number): Promise<void> {
  const endMs = performance.now() + 10_000;
  while (firstOfEach(received).size < wanted && performance.now() < endMs) await sleep(50);
}

function firstOfEach(received: Received[]): Map<number, Received> {
  const firsts = new Map<number, Received>();
  for (const one of received) if (!firsts.has(one.seq)) firsts.set(one.seq, one);
  return firsts;
}

/** By the numbers of the changes, for each plant. */
function assertOrder(received: Received[]): void {
  const last = new Map<number, number>();
  for (const { seq, body } of received) {
    const { id } = JSON.parse(body);
    assert.ok(seq > (last.get(id) ?? 0), `plant ${id}: ${seq} came after ${last.get(id)}`);
    last.set(id, seq);
  }
}

function nameIn(body: string): string {
  return JSON.parse(body).name;
}
