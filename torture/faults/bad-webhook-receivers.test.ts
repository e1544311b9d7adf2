// Receivers that hang, drip, flood, redirect or return errors, next to good receivers, while plants change all the
// time.

import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { isPostgresHere, makeDatabase } from '../../testing/postgres.ts';
import { type Received, type Receiver, startReceiver } from '../../testing/receiver.ts';
import { addAdmin, residentKib } from '../../testing/server.ts';
import { waitForThreads } from '../../testing/threads.ts';
import { createBadReceivers } from '../bad-receivers.ts';
import { fault, type Trial } from '../fault.ts';

const PLANTS = 200;
const MAX_KIB = 320 * 1024;
/** Maximum bytes sent before the server closes the connection. Its limit is 64 KiB, and more is in flight by then. */
const MAX_READ_BYTES = 256 * 1024;
/** Part of the wanted pace that must be reached. A slower server would have less to deliver. */
const MIN_PACE = 0.9;
const EVENTS = ['plant.created', 'plant.updated', 'plant.deleted'];

interface Pace {
  changes: number;
  perSecond: number;
  /** Maximum delay until a good receiver has a change. */
  withinMs: number;
}

fault({
  name: 'bad webhook receivers',
  mark: 'Good receivers get each change once, in order, within 2 s. The server reads at most 64 KiB of a response and decompresses none.',
  rounds: { short: 200, full: 30_000, of: 'changes with 9 bad and 2 good receivers' },
  async trial(trial) {
    const { rounds, isFull } = trial;
    // The short form runs in parallel with other tests, which slow it down.
    const pace = isFull ? { perSecond: 500, withinMs: 2000 } : { perSecond: 100, withinMs: 30_000 };
    const seen = await tryReceivers(trial, { changes: rounds, ...pace });
    if (!isFull || !isPostgresHere()) return seen;
    const onPostgres = await tryReceivers(
      trial,
      { changes: 1000, perSecond: 100, withinMs: 2000 },
      await makeDatabase(),
    );
    return `${seen}; on PostgreSQL ${onPostgres}`;
  },
  controls: {
    'reads responses to their end': {
      change: ['src/webhooks/receiver-client.ts', 'if (bytes >= MAX_RESPONSE_BYTES) response.destroy();', ''],
      caught: /KiB of a response were read/,
    },
  },
});

async function tryReceivers({ startServer, isFull }: Trial, pace: Pace, databaseUrl?: string): Promise<string> {
  const server = await startServer({ ...(databaseUrl && { databaseUrl }), env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
  await waitForThreads(server);
  const { secret, call } = await addAdmin(server);
  const add = async ({ url }: Receiver) =>
    JSON.parse((await call('POST', '/webhooks', { url, events: EVENTS })).body).id as string;
  const seconds = pace.changes / pace.perSecond;

  const trap = await startReceiver();
  const { byName, readBytes } = createBadReceivers();
  const bad = new Map<string, Receiver>();
  for (const [what, handler] of Object.entries(byName)) bad.set(what, await startReceiver(handler));
  bad.set(
    'redirects',
    await startReceiver((_request, response) => response.writeHead(302, { location: trap.url }).end()),
  );
  const badIds = new Map<string, string>();
  for (const [what, receiver] of bad) badIds.set(what, await add(receiver));
  const good = [await startReceiver(), await startReceiver()];
  for (const receiver of good) await add(receiver);

  const startMs = performance.now();
  const committedMs = await change(server.port, secret, pace);
  const perSecond = Math.round(pace.changes / ((performance.now() - startMs) / 1000));
  const residentMib = Math.round(residentKib(server) / 1024);
  await Promise.all(good.map((receiver) => allReceived(receiver, committedMs.size, pace.withinMs)));
  await sleep(200);

  const median = readBytes.toSorted((a, b) => a - b)[readBytes.length >> 1] ?? Number.NaN;
  assert.ok(median <= MAX_READ_BYTES, `${median / 1024} KiB of a response were read`);
  assert.ok(perSecond >= pace.perSecond * MIN_PACE || !isFull, `${perSecond} changes per second`);
  const latest = good.map((receiver) => assertAllCame(receiver, committedMs, pace.withinMs));
  const tried = Object.fromEntries([...bad].map(([what, { received }]) => [what, received.length]));
  assert.equal(trap.connections(), 0, 'a redirect was followed');
  assert.equal(tried['returns 410'], 1);
  assert.equal(tried['returns 429'], 1);
  for (const what of ['hangs', 'drips its response', 'returns 500', 'redirects']) {
    assert.ok((tried[what] ?? 0) >= 1 && (tried[what] ?? 0) <= 10 + 2 * seconds, `${what}: ${tried[what]}`);
  }
  for (const what of ['returns 1 GB', 'returns a gzip bomb'])
    assert.ok((tried[what] ?? 0) > 1, `${what}: its 200 was not counted as a delivery`);
  const statusOf = async (what: string) => JSON.parse((await call('GET', `/webhooks/${badIds.get(what)}`)).body).status;
  assert.equal(await statusOf('returns 410'), 'disabled');
  assert.equal(await statusOf('returns 500'), 'failing');
  assert.equal(await statusOf('redirects'), 'failing');
  const deliveries = await call(
    'GET',
    `/webhooks/${badIds.get('returns a gzip bomb')}/deliveries?status=delivered&limit=1`,
  );
  assert.ok(JSON.parse(deliveries.body)[0].answer.startsWith('\u001f'), 'a compressed response was decompressed');
  assert.ok(residentMib * 1024 < MAX_KIB, `${residentMib} MiB`);
  assert.equal(await server.stop(), 0, 'a receiver that hangs must not delay the shutdown');
  const slowest = Math.round(Math.max(...latest.map(({ slowestMs }) => slowestMs)));
  const typical = Math.round(latest[0]?.medianMs ?? 0);
  return `${committedMs.size.toLocaleString('en')} changes at ${perSecond}/s: median ${typical} ms, slowest ${slowest} ms; ${Math.round(median / 1024)} KiB of a response read; ${residentMib} MiB`;
}

function assertAllCame(
  { received }: Receiver,
  committedMs: Map<string, number>,
  withinMs: number,
): { slowestMs: number; medianMs: number } {
  const firsts = firstOfEach(received);
  assert.equal(firsts.size, committedMs.size, 'a good receiver missed a change');
  const lateMs = [...firsts.values()]
    .map(({ body, atMs }) => atMs - (committedMs.get(nameIn(body)) ?? Number.NaN))
    .sort((a, b) => a - b);
  const slowestMs = lateMs.at(-1) ?? Number.NaN;
  assert.ok(slowestMs <= withinMs, `the slowest delivery took ${slowestMs} ms`);
  assertOrder([...firsts.values()]);
  assert.equal(received.length, firsts.size, 'a change was delivered twice');
  return { slowestMs, medianMs: lateMs[lateMs.length >> 1] ?? Number.NaN };
}

/** Changes plants at the given pace. Returns the stored names with the time of each acknowledgement. */
async function change(port: number, secret: string, pace: Pace): Promise<Map<string, number>> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const committedMs = new Map<string, number>();
  const underWay: Promise<void>[] = [];
  const startMs = performance.now();
  for (let n = 0; n < pace.changes; ) {
    const dueMs = performance.now() - startMs;
    while (n < pace.changes && n < (dueMs / 1000) * pace.perSecond) underWay.push(put(n++));
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

async function allReceived({ received }: Receiver, wanted: number, withinMs: number): Promise<void> {
  const endMs = performance.now() + withinMs + 8000;
  while (firstOfEach(received).size < wanted && performance.now() < endMs) await sleep(50);
}

function firstOfEach(received: Received[]): Map<number, Received> {
  const firsts = new Map<number, Received>();
  for (const one of received) if (!firsts.has(one.seq)) firsts.set(one.seq, one);
  return firsts;
}

/** Checks that the change numbers increase for each plant. */
function assertOrder(received: Received[]): void {
  const last = new Map<number, number>();
  for (const { seq, body } of received) {
    const { id } = JSON.parse(body);
    assert.ok(seq > (last.get(id) ?? 0), `plant ${id}: change ${seq} arrived after change ${last.get(id)}`);
    last.set(id, seq);
  }
}

function nameIn(body: string): string {
  return JSON.parse(body).name;
}
