// The delivery loop on a real store, with a client that responds as the test says and a clock that the test moves.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { createTestClock } from '../../testing/delivery-clock.ts';
import { makeFolder } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import { unavailable } from '../domain/errors.ts';
import type { Store } from '../domain/store.ts';
import type { ServiceEvent } from '../observability/service-events.ts';
import { openSqliteStore } from '../storage/sqlite/store.ts';
import { DeliveryLoop, type DeliveryOptions } from './delivery-loop.ts';
import type { Outcome } from './receiver-client.ts';

const BY = { tokenId: 'cli' };
const OK: Outcome = { delivered: true, code: 200, answer: '', durationMs: 1 };
const FAILED: Outcome = { ...OK, delivered: false, code: 500 };
const SECOND_MS = 1000;
const DAY_MS = 24 * 3_600_000;
let store: Store;
let lastId = 0;

suite('the delivery loop', { concurrency: 1 }, () => {
  before(async () => {
    const path = `${makeFolder()}/plants.db`;
    store = await openSqliteStore({ path, role: 'server', observe: () => {}, onFailure: () => assert.fail() });
  });
  after(() => store.close());

  test('nothing is sent while progress cannot be saved, and nothing stalls for good, not even a new webhook', async () => {
    let failedSaves = 0;
    let isBroken = false;
    const loop = await startLoop({
      store: {
        ...store,
        recordDeliveries(node, progress) {
          if (!isBroken) return store.recordDeliveries(node, progress);
          failedSaves++;
          throw unavailable('not now');
        },
      },
    });
    isBroken = true;
    await create();
    await until(() => loop.sent.length === 1 && failedSaves > 0);
    await create();
    const failedBefore = failedSaves;
    await until(() => failedSaves > failedBefore + 2);
    assert.equal(loop.sent.length, 1);
    await store.removeWebhook(loop.webhookId);
    await addWebhook('whk_other');
    await loop.claimed();
    isBroken = false;
    await create();
    await until(() => loop.sent.includes('https://whk-other.example/'));
    await store.removeWebhook('whk_other');
    await loop.stop();
  });

  test('a failure is tried again after 5 s, however the clock on the wall is set meanwhile', async () => {
    const loop = await startLoop({ outcomes: [FAILED] });
    await create();
    await until(() => loop.sent.length === 1);
    for (const aheadMs of [DAY_MS, 0, -DAY_MS, 7 * DAY_MS, 0]) {
      loop.clock.set(aheadMs);
      await loop.claimed();
    }
    loop.clock.pass(3.9 * SECOND_MS);
    await loop.claimed();
    assert.equal(loop.sent.length, 1);
    loop.clock.pass(2.2 * SECOND_MS);
    loop.loop.claim();
    await until(() => loop.sent.length === 2);
    await loop.end();
  });

  test('a clock that is set while a request is in flight delays no retry', async () => {
    for (const aheadMs of [DAY_MS, -DAY_MS]) {
      const loop = await startLoop({
        outcomes: [
          () => {
            loop.clock.set(aheadMs);
            return FAILED;
          },
        ],
      });
      await create();
      await until(() => loop.sent.length === 1);
      await loop.claimed();
      loop.clock.pass(6.1 * SECOND_MS);
      loop.loop.claim();
      await until(() => loop.sent.length === 2);
      await loop.end();
    }
  });

  test('a clock that is put forward by a week disables no webhook', async () => {
    const loop = await startLoop({ outcomes: [FAILED, FAILED] });
    await create();
    await until(() => loop.sent.length === 1);
    loop.clock.set(7 * DAY_MS);
    loop.clock.pass(6.1 * SECOND_MS);
    loop.loop.claim();
    await until(() => loop.sent.length === 2);
    await until(async () => (await store.listDeliveries(loop.webhookId))[0]?.attempts === 2);
    assert.equal((await store.getWebhook(loop.webhookId)).disabledMs, null);
    await loop.end();
  });

  test('waits are saved by the clock on the wall, and another process continues them', async () => {
    const first = await startLoop({ outcomes: [FAILED] });
    await create();
    const delivery = await until(async () => (await store.listDeliveries(first.webhookId))[0]);
    const waitMs = Date.parse(delivery.next ?? '') - Date.parse(delivery.time ?? '');
    assert.ok(waitMs >= 4 * SECOND_MS && waitMs <= 6 * SECOND_MS, `${waitMs} ms`);
    assert.equal(Date.parse(delivery.time ?? ''), Math.round(first.clock.wallMs()));
    const { failing } = await store.getWebhook(first.webhookId);
    assert.equal(failing?.sinceMs, Math.round(first.clock.wallMs()));
    await first.stop();
    const second = await startLoop({ webhookId: first.webhookId });
    second.clock.pass(3 * SECOND_MS);
    await second.claimed();
    assert.equal(second.sent.length, 0);
    second.clock.pass(4 * SECOND_MS);
    second.loop.claim();
    await until(() => second.sent.length === 1);
    await second.end();
  });

  test('a node that cannot renew its lease stops sending while an attempt would still fit in', async () => {
    let isBroken = false;
    const loop = await startLoop({
      store: {
        ...store,
        claimWebhooks(node, leaseMs) {
          if (isBroken) throw unavailable('not now');
          return store.claimWebhooks(node, leaseMs);
        },
      },
    });
    isBroken = true;
    loop.clock.pass(3.9 * SECOND_MS);
    await create();
    await until(() => loop.sent.length === 1);
    loop.clock.pass(0.2 * SECOND_MS);
    await create();
    await loop.claimed();
    assert.equal(loop.sent.length, 1);
    isBroken = false;
    loop.loop.claim();
    await until(() => loop.sent.length === 2);
    loop.clock.set(DAY_MS); // or the machine has slept
    isBroken = true;
    await create();
    await loop.claimed();
    assert.equal(loop.sent.length, 2);
    isBroken = false;
    loop.loop.claim();
    await until(() => loop.sent.length === 3);
    await loop.end();
  });

  test('a webhook that other nodes should have is released once its response is saved, and claimed again later', async () => {
    let surplus = 0;
    const released: string[] = [];
    let respond: (outcome: Outcome) => void = () => {};
    const loop = await startLoop({
      outcomes: [() => new Promise((resolve) => (respond = resolve))],
      store: {
        ...store,
        claimWebhooks: async (node, leaseMs) => ({ ...(await store.claimWebhooks(node, leaseMs)), surplus }),
        async releaseWebhooks(node, ids) {
          released.push(...(ids ?? []));
          return store.releaseWebhooks(node, ids);
        },
      },
    });
    await create();
    await until(() => loop.sent.length === 1);
    surplus = 1;
    await loop.claimed();
    await create();
    await loop.claimed();
    assert.deepEqual(released, [], 'a request is in flight');
    assert.equal(loop.sent.length, 1, 'nothing new is sent');
    respond(OK);
    await until(async () => (await store.listDeliveries(loop.webhookId)).length === 1);
    loop.clock.pass(2 * SECOND_MS); // positions are saved less often
    await until(() => {
      loop.loop.claim();
      return released.length > 0;
    });
    surplus = 0;
    loop.loop.claim();
    await until(() => loop.sent.length === 2);
    await loop.end();
  });

  test('an unexpected error is reported once, and delivery resumes a second after its cause is gone', async () => {
    let isBroken = true;
    const loop = await startLoop({
      outcomes: [
        () => {
          if (isBroken) throw new TypeError('x is undefined');
          return OK;
        },
      ],
    });
    await create();
    for (let tries = 1; tries <= 3; tries++) {
      await until(() => loop.sent.length === tries);
      await loop.claimed();
      assert.equal(loop.sent.length, tries, 'it pauses');
      if (tries === 3) isBroken = false;
      loop.clock.pass(SECOND_MS);
      loop.loop.claim();
    }
    await until(() => loop.sent.length === 4);
    const bugs = loop.events.filter(({ kind }) => kind === 'bug');
    assert.deepEqual(bugs, [{ kind: 'bug', error: new TypeError('x is undefined') }]);
    await loop.end();
  });
});

type Respond = () => Outcome | Promise<Outcome>;

interface TestLoop {
  loop: DeliveryLoop;
  clock: ReturnType<typeof createTestClock>;
  webhookId: string;
  /** URLs that were sent to. */
  sent: string[];
  events: ServiceEvent[];
  /** Claims now, and waits until everything that is due was started. */
  claimed(): Promise<void>;
  stop(): Promise<void>;
  /** Stops, and removes the webhook. */
  end(): Promise<void>;
}

/** Starts a loop with one webhook. The last of the outcomes stays if it is a function; otherwise every attempt succeeds. */
async function startLoop(
  options: { outcomes?: (Outcome | Respond)[]; webhookId?: string; store?: DeliveryOptions['store'] } = {},
): Promise<TestLoop> {
  const { outcomes = [], webhookId = `whk_${++lastId}` } = options;
  const clock = createTestClock();
  const sent: string[] = [];
  const events: ServiceEvent[] = [];
  const used = options.store ?? store;
  let claims = 0;
  if (options.webhookId === undefined) await addWebhook(webhookId);
  const loop = new DeliveryLoop({
    store: {
      ...used,
      async claimWebhooks(node, leaseMs) {
        try {
          return await used.claimWebhooks(node, leaseMs);
        } finally {
          claims++;
        }
      },
    },
    receiverClient: {
      async post(url) {
        sent.push(url);
        const outcome = outcomes[0] ?? OK;
        if (typeof outcome === 'function' && outcomes.length === 1) return outcome();
        outcomes.shift();
        return typeof outcome === 'function' ? outcome() : outcome;
      },
      close() {},
    },
    node: 'test',
    observe: (event) => events.push(event),
    clock,
  });
  await claimed();
  return {
    loop,
    clock,
    webhookId,
    sent,
    events,
    claimed,
    stop: () => loop.stop(),
    async end() {
      await loop.stop();
      await store.removeWebhook(webhookId);
    },
  };

  async function claimed(): Promise<void> {
    const claimsBefore = claims;
    loop.claim();
    loop.claim(); // once more after the one in progress, which may have begun before
    await until(() => claims > claimsBefore + 1);
  }
}

async function addWebhook(id: string): Promise<void> {
  const url = `https://${id.replace('_', '-')}.example/`;
  await store.addWebhook({ id, url, events: ['plant.created'], secret: 'whsec_AAAA', createdMs: Date.now() });
}

async function create(): Promise<void> {
  await store.create({ id: BigInt(++lastId), name: 'x' }, BY);
}
