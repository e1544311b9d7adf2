// Tests the delivery loop on a real store, with a scripted receiver client and a clock that the test controls.

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

  test('sends nothing while progress cannot be saved, and then resumes, also for a new webhook', async () => {
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

  test('sends nothing to a changed webhook until the change is applied, but continues with the others', async () => {
    let mayClaim = Promise.resolve();
    const loop = await startLoop({
      store: {
        ...store,
        async claimWebhooks(node, leaseMs) {
          await mayClaim;
          return store.claimWebhooks(node, leaseMs);
        },
      },
    });
    await addWebhook('whk_other');
    await loop.claimed();
    const { promise, resolve } = Promise.withResolvers<void>();
    mayClaim = promise;
    await store.updateWebhook(loop.webhookId, { events: ['plant.deleted'] }, Date.now());
    loop.loop.hold(loop.webhookId);
    await create();
    await until(() => loop.sent.length > 0);
    resolve();
    await loop.claimed();
    await create();
    await until(() => loop.sent.length > 1);
    await loop.claimed();
    assert.deepEqual(loop.sent, ['https://whk-other.example/', 'https://whk-other.example/']);
    await store.removeWebhook('whk_other');
    await loop.end();
  });

  test('a changed webhook continues although another one cannot be loaded', async () => {
    const loop = await startLoop({
      store: {
        ...store,
        async openDeliveries(ids) {
          if (ids.includes('whk_other')) throw unavailable('not now');
          return store.openDeliveries(ids);
        },
      },
    });
    await addWebhook('whk_other');
    loop.loop.hold(loop.webhookId);
    await loop.claimed();
    await create();
    await until(() => loop.sent.length > 0);
    await store.removeWebhook('whk_other');
    await loop.end();
  });

  test('retries a failure after 5 s, even if the wall clock is set meanwhile', async () => {
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

  test('does not delay a retry if the wall clock is set while a request is in flight', async () => {
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

  test('does not disable a webhook if the wall clock is set forward by a week', async () => {
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

  test('saves retry times on the wall clock, so that another process can continue them', async () => {
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

  test('stops sending before the lease ends if it cannot renew the lease', async () => {
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
    loop.clock.set(DAY_MS); // has the same effect as a machine that slept
    isBroken = true;
    await create();
    await loop.claimed();
    assert.equal(loop.sent.length, 2);
    isBroken = false;
    loop.loop.claim();
    await until(() => loop.sent.length === 3);
    await loop.end();
  });

  test('releases a surplus webhook once its response is saved, and claims it again later', async () => {
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
    loop.clock.pass(2 * SECOND_MS); // the interval for saving positions
    await until(() => {
      loop.loop.claim();
      return released.length > 0;
    });
    surplus = 0;
    loop.loop.claim();
    await until(() => loop.sent.length === 2);
    await loop.end();
  });

  test('reports an unexpected error once, and resumes 1 s after its cause is fixed', async () => {
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
  /** URLs of the requests that were sent. */
  sent: string[];
  events: ServiceEvent[];
  /** Claims webhooks and waits until every due delivery was started. */
  claimed(): Promise<void>;
  stop(): Promise<void>;
  /** Stops the loop and removes the webhook. */
  end(): Promise<void>;
}

/** Starts a loop with one webhook. After the listed outcomes every attempt succeeds; a final function is repeated. */
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
    loop.claim(); // once more, because a claim in progress may have started earlier
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
