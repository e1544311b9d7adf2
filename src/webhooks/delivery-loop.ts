// The webhook loop: reads the change log for each webhook that this node has claimed, sends, and records what came of it.
// Nothing is queued outside of the log: what is not recorded when the process dies is sent again.

import { uptime } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChangeStore } from '../domain/change.ts';
import type { DeliveryStore, Progress, StoredWebhook } from '../domain/webhook.ts';
import { createBugReport, isUnavailable } from '../observability/bug-report.ts';
import type { Observe } from '../observability/service-events.ts';
import { createChangeLogReader, isPruned } from './change-log-reader.ts';
import type { Entry } from './per-plant-queue.ts';
import { MAX_ATTEMPT_MS, type Outcome, type ReceiverClient } from './receiver-client.ts';
import { toMessage } from './signed-message.ts';
import { type Courier, createCourier } from './webhook-queue.ts';

/** So often it is looked which webhooks there are, and if they were changed. */
const CLAIM_EVERY_MS = 1000;
/** A node that has not claimed for so long loses its webhooks to others: what it has begun is over by then. */
const LEASE_MS = MAX_ATTEMPT_MS + 4000;
const LOOK_EVERY_MS = 250;
const RECORD_EVERY_MS = 100;
/** Where only the position has moved on. */
const RECORD_POSITION_EVERY_MS = 2000;
const WATCH_AGAIN_MS = 1000;
/** After a bug, what it came up with is left alone for so long: for a webhook its changes, or what is to be recorded. */
const AFTER_BUG_MS = 1000;
/** By which the clock is set at least: less is a correction, or a process that was held up between two looks. */
const CLOCK_STEP_MS = 10_000;

/** Each webhook may have one request under way, and all together so many more. */
const MAX_SHARED = 256;
const MAX_IN_FLIGHT = 2048;
/** Deliveries that are not done: of one webhook, and where there are many. */
const MAX_OPEN = 1000;
const MIN_OPEN = 100;
const MAX_OPEN_IN_ALL = 100_000;
const ENGAGED_AT_ONCE = 100;
/** When it stops, what is under way has so long to come to its end. */
const LAST_ANSWERS_MS = 2000;

export interface DeliveryOptions {
  store: DeliveryStore & ChangeStore;
  receiverClient: ReceiverClient;
  /** Names this process among others on the same database. */
  node: string;
  observe: Observe;
  clock?: () => number;
}

export interface Delivery {
  /** Somebody has added or changed a webhook. */
  wake(): void;
  stop(): Promise<void>;
}

export function startDelivery({ store, receiverClient, node, observe, clock = Date.now }: DeliveryOptions): Delivery {
  const couriers = new Map<string, Courier>();
  /** They send nothing any more, as somebody has changed or removed their webhook, and end with their last answer. */
  const ending = new Set<Courier>();
  /** They send nothing new, and end with their last answer: another node will go on. */
  const leaving = new Set<Courier>();
  /** They would send, but too many others do. */
  const crowdedOut = new Set<Courier>();
  /** They have read all there is. */
  const caughtUp = new Set<Courier>();
  const reading = new Set<Courier>();
  const touched = new Set<Courier>();
  /** Somebody has just wanted some delivery again. */
  const askAgain = new Set<Courier>();
  const stopping = new AbortController();
  const log = createChangeLogReader(store);
  const reportBug = createBugReport(observe);
  /** Each after a bug, by the clock that only goes on. */
  const pausedUntilMs = new WeakMap<Courier, number>();
  let recordAfterMs = Number.NEGATIVE_INFINITY;
  /** From then on the store may be closed under what is still read. */
  let isOver = false;
  let inFlight = 0;
  /** Of these, those beyond the first of each webhook. */
  let shared = 0;
  /** By the clock that only goes on, and by the clock on the wall, which goes on also while a machine sleeps. */
  let leaseEndMs = Number.NEGATIVE_INFINITY;
  let leaseEndWallMs = Number.NEGATIVE_INFINITY;
  let lastSeq = 0;
  let recording: Promise<void> | undefined;
  let isRecordFailing = false;
  let positionsRecordedMs = Number.NEGATIVE_INFINITY;
  let claiming: Promise<void> | undefined;
  let claimAgain = false;
  let hasMoved = false;
  /** So often there was something new in the log. */
  let moves = 0;
  let isWatching = false;
  /** By how much it is ahead of the clock that only goes on, and how long the machine has slept, for which that one stands still. */
  let clockAheadMs = clock() - performance.now();
  let sleptMs = timeAsleepMs();

  claim();
  const timers = [
    setInterval(claim, CLAIM_EVERY_MS),
    setInterval(pumpAll, LOOK_EVERY_MS),
    setInterval(() => {
      if (performance.now() >= recordAfterMs) record();
    }, RECORD_EVERY_MS),
  ];

  return {
    wake: claim,
    async stop() {
      stopping.abort();
      for (const timer of timers) clearInterval(timer);
      await claiming;
      const endMs = performance.now() + LAST_ANSWERS_MS;
      while (inFlight > 0 && performance.now() < endMs) await sleep(10);
      await recordAll();
      couriers.clear(); // what still comes does not count
      receiverClient.close();
      await store.releaseWebhooks(node).catch(note);
      isOver = true;
    },
  };

  function claim(): void {
    claimAgain = claiming !== undefined;
    if (claiming || stopping.signal.aborted) return;
    claiming = claimNow()
      .catch((error) => void note(error)) // without a lease nothing is sent
      .finally(() => {
        claiming = undefined;
        if (claimAgain) claim();
      });
  }

  async function claimNow(): Promise<void> {
    const [askedMs, askedWallMs] = [performance.now(), now()];
    const claimed = await store.claimWebhooks(node, LEASE_MS);
    leaseEndMs = askedMs + LEASE_MS;
    leaseEndWallMs = askedWallMs + LEASE_MS;
    lastSeq = Math.max(lastSeq, claimed.lastSeq);
    const webhooks = new Map(claimed.webhooks.map((webhook) => [webhook.id, webhook]));
    for (const courier of couriers.values()) {
      const webhook = webhooks.get(courier.webhook.id);
      if (webhook?.epoch !== courier.webhook.epoch) ending.add(courier);
      else await update(courier, webhook);
    }
    if (ending.size > 0) await recordAll();
    for (const courier of ending) if (courier.inFlight === 0) retire(courier);
    for (const id of await leave(claimed.surplus)) webhooks.delete(id);
    const maxOpen = Math.max(MIN_OPEN, Math.min(MAX_OPEN, Math.floor(MAX_OPEN_IN_ALL / (webhooks.size + 1))));
    const added = [...webhooks.values()].filter(({ id }) => !couriers.has(id));
    for (let at = 0; at < added.length; at += ENGAGED_AT_ONCE)
      await engage(added.slice(at, at + ENGAGED_AT_ONCE), maxOpen);
    onMove();
    if (!isWatching) void watch();
  }

  async function update(courier: Courier, webhook: StoredWebhook): Promise<void> {
    const { id, retries } = webhook;
    const isNew = retries !== courier.webhook.retries;
    if (isNew || askAgain.has(courier)) {
      courier.startReading();
      courier.merge((await store.openDeliveries([id])).get(id) ?? []);
    }
    courier.webhook = webhook;
    // What ended at the same time was not recorded yet.
    if (isNew) askAgain.add(courier);
    else askAgain.delete(courier);
  }

  async function engage(webhooks: StoredWebhook[], maxOpen: number): Promise<void> {
    const open = await store.openDeliveries(webhooks.map(({ id }) => id));
    if (stopping.signal.aborted) return;
    for (const webhook of webhooks) {
      const options = { maxOpen, random: Math.random };
      couriers.set(webhook.id, createCourier(webhook, open.get(webhook.id) ?? [], options));
    }
  }

  function retire(courier: Courier): void {
    couriers.delete(courier.webhook.id);
    for (const set of [ending, leaving, crowdedOut, caughtUp, touched, askAgain]) set.delete(courier);
  }

  /** Gives up so many, each when it has nothing under way and nothing to record. Gives the ids of those that are gone. */
  async function leave(count: number): Promise<string[]> {
    leaving.clear();
    for (const courier of [...couriers.values()].slice(0, count)) leaving.add(courier);
    const left = [...leaving].filter((courier) => courier.inFlight === 0 && !courier.progress(now(), true));
    const ids = left.map(({ webhook }) => webhook.id);
    if (ids.length > 0) await store.releaseWebhooks(node, ids);
    for (const courier of left) retire(courier);
    return ids;
  }

  /** Hears of new changes at once; if it cannot, they are found with the next claim. */
  async function watch(): Promise<void> {
    const { signal } = stopping;
    isWatching = true;
    while (couriers.size > 0 && !signal.aborted) {
      try {
        for await (const { seq } of store.follow({ after: lastSeq, signal })) {
          lastSeq = Math.max(lastSeq, seq);
          if (!hasMoved) setImmediate(onMove);
          hasMoved = true;
          if (couriers.size === 0) break;
        }
      } catch (error) {
        if (!isPruned(error)) note(error);
        await sleep(WATCH_AGAIN_MS, undefined, { signal }).catch(() => {});
      }
    }
    isWatching = false;
  }

  function onMove(): void {
    hasMoved = false;
    moves++;
    log.forget();
    caughtUp.clear();
    pumpAll();
  }

  /** Returns the wall-clock time. If the clock was set, it first moves what waits: times set from now on need no move. */
  function now(): number {
    noteClock();
    return clock();
  }

  /** What waits goes by the time that has passed, however the clock is set meanwhile. */
  function noteClock(): void {
    const aheadMs = clock() - performance.now();
    const movedMs = aheadMs - clockAheadMs;
    clockAheadMs = aheadMs;
    if (Math.abs(movedMs) < CLOCK_STEP_MS) return;
    const nowSleptMs = timeAsleepMs();
    const stepMs = Math.round(movedMs - (nowSleptMs - sleptMs));
    sleptMs = nowSleptMs;
    if (Math.abs(stepMs) < CLOCK_STEP_MS) return;
    for (const courier of couriers.values()) courier.shift(stepMs);
  }

  function pumpAll(): void {
    for (const courier of couriers.values()) pump(courier);
  }

  /** Sends all that may be sent now, and reads on where there is room. */
  function pump(courier: Courier): void {
    while (maySend(courier)) {
      if (courier.inFlight > 0 ? shared >= MAX_SHARED : inFlight >= MAX_IN_FLIGHT) {
        crowdedOut.add(courier);
        return;
      }
      const entry = courier.next(now());
      if (!entry) {
        if (!caughtUp.has(courier) && !reading.has(courier) && courier.wantsMore(now())) void readOn(courier);
        return;
      }
      void deliver(courier, entry);
    }
  }

  function maySend(courier: Courier): boolean {
    const nowMs = performance.now();
    const isLeased = nowMs + MAX_ATTEMPT_MS < leaseEndMs && clock() + MAX_ATTEMPT_MS < leaseEndWallMs;
    const isPaused = nowMs < (pausedUntilMs.get(courier) ?? nowMs);
    const isCurrent = couriers.get(courier.webhook.id) === courier && !ending.has(courier) && !leaving.has(courier);
    return isLeased && isCurrent && !isPaused && !isRecordFailing && !stopping.signal.aborted;
  }

  async function readOn(courier: Courier): Promise<void> {
    reading.add(courier);
    const { readTo } = courier;
    const movesBefore = moves;
    try {
      courier.take(await log.page(readTo), now());
    } catch (error) {
      if (isPruned(error)) await skipGone(courier);
      else noteOf(courier, error);
    }
    if (courier.readTo === readTo && moves === movesBefore) caughtUp.add(courier); // or it cannot be read now
    reading.delete(courier);
    if (couriers.get(courier.webhook.id) !== courier) return void caughtUp.delete(courier);
    touched.add(courier);
    pump(courier);
  }

  async function skipGone(courier: Courier): Promise<void> {
    try {
      courier.skipTo(await log.lastGone(lastSeq));
    } catch (error) {
      noteOf(courier, error);
    }
  }

  async function deliver(courier: Courier, entry: Entry): Promise<void> {
    inFlight++;
    if (courier.inFlight > 1) shared++;
    let outcome: Outcome | 'gone' | 'unread';
    try {
      const change = entry.change ?? (await log.one(entry.seq));
      if (!change) outcome = 'gone';
      else if (!maySend(courier))
        outcome = 'unread'; // that took so long that it is no longer ours
      else outcome = await receiverClient.post(courier.webhook.url, toMessage(courier.webhook, change, clock()));
    } catch (error) {
      noteOf(courier, error);
      outcome = 'unread';
    }
    if (outcome === 'gone') courier.drop(entry);
    else if (outcome === 'unread') courier.putBack(entry);
    else finish(courier, entry, outcome);
    inFlight--;
    if (courier.inFlight > 0) shared--;
    touched.add(courier);
    if (ending.has(courier) && courier.inFlight === 0) claim();
    if (outcome !== 'unread') pump(courier); // or it waits until all are looked at
    for (let left = crowdedOut.size; left > 0 && shared < MAX_SHARED && inFlight < MAX_IN_FLIGHT; left--) {
      const [other] = crowdedOut;
      if (!other) break;
      crowdedOut.delete(other);
      pump(other);
    }
  }

  function finish(courier: Courier, entry: Entry, outcome: Outcome): void {
    if (couriers.get(courier.webhook.id) !== courier) {
      courier.putBack(entry); // we have stopped, and broken it off ourselves
      return;
    }
    const { isDown: wasDown } = courier;
    const attempt = entry.attempts + 1;
    const result = courier.finish(entry, outcome, now());
    const { code, error = '', durationMs } = outcome;
    const webhookId = courier.webhook.id;
    observe({ kind: 'delivery', webhookId, seq: entry.seq, attempt, result, code, durationMs });
    if (courier.isDown && !wasDown) observe({ kind: 'webhook_failing', webhookId, reason: error });
    if (wasDown && !courier.isDown) observe({ kind: 'webhook_recovered', webhookId });
  }

  function record(): void {
    const withPositions = performance.now() - positionsRecordedMs >= RECORD_POSITION_EVERY_MS;
    recording ??= recordNow(withPositions).finally(() => {
      recording = undefined;
    });
  }

  async function recordAll(): Promise<void> {
    await recording;
    positionsRecordedMs = Number.NEGATIVE_INFINITY;
    record();
    await recording;
  }

  async function recordNow(withPositions: boolean): Promise<void> {
    const nowMs = now();
    const given = new Map<Courier, Progress>();
    for (const courier of couriers.values()) {
      if (!withPositions && !touched.has(courier) && courier.inFlight === 0) continue;
      const progress = courier.progress(nowMs, withPositions);
      if (progress) given.set(courier, progress);
      else touched.delete(courier);
    }
    if (withPositions) positionsRecordedMs = performance.now();
    if (given.size === 0) {
      isRecordFailing = false;
      return;
    }
    try {
      const held = new Set(await store.recordDeliveries(node, [...given.values()]));
      for (const [courier, progress] of given) confirm(courier, progress, held);
      if (isRecordFailing) setImmediate(pumpAll);
      isRecordFailing = false;
    } catch (error) {
      isRecordFailing = true; // nothing is sent until what was sent is recorded
      if (note(error)) recordAfterMs = performance.now() + AFTER_BUG_MS;
    }
  }

  /** That the database is out of reach is said by whoever writes or reads next. True for all else, which is a bug. */
  function note(error: unknown): boolean {
    const isBug = !isUnavailable(error) && !isOver;
    if (isBug) reportBug(error);
    return isBug;
  }

  function noteOf(courier: Courier, error: unknown): void {
    if (note(error)) pausedUntilMs.set(courier, performance.now() + AFTER_BUG_MS);
  }

  function confirm(courier: Courier, progress: Progress, held: Set<string>): void {
    const { id } = courier.webhook;
    courier.confirm(progress);
    if (held.has(id) && progress.disabledMs === null) return;
    if (held.has(id)) observe({ kind: 'webhook_disabled', webhookId: id, reason: progress.failing?.reason ?? '' });
    if (!ending.has(courier)) claim();
    ending.add(courier);
  }
}

/** Of the machine, since some moment. */
function timeAsleepMs(): number {
  return uptime() * 1000 - performance.now();
}
