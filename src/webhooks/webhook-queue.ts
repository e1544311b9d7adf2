// What is under way for one webhook: which change is sent next, what waits for another attempt, and how far it has come.
// Changes of one plant are sent one after the other. Does no I/O and looks at no clock.

import type { Change } from '../domain/change.ts';
import {
  type DeliveryRecord,
  isWanted,
  type OpenDelivery,
  type Progress,
  type StoredWebhook,
} from '../domain/webhook.ts';
import type { DeliveryResult } from '../observability/service-events.ts';
import { createPlantQueue, type Entry, isUnderWay, toEntry } from './per-plant-queue.ts';
import { createPace } from './receiver-backoff.ts';
import type { Outcome } from './receiver-client.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** After the first failure, the second, and so on; then it is a dead letter. */
export const RETRY_AFTER_MS = [
  5000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];
/** Each is so much shorter or longer, so that not all come at once. */
const SPREAD = 0.2;
/** After so long of nothing but failures it is disabled. */
const DISABLED_AFTER_MS = 5 * 24 * HOUR_MS;
const GONE = 410;
/** Of changes that were read and wait for their turn; one more page may be there. */
const MAX_HELD_CHARS = 32 * 1024;
/** What takes longer is put aside, so that the position can pass it. */
const SLOW_MS = 1000;

export interface Courier {
  /** As it was read last: whoever reads a newer one sets it. It counts from the next change on. */
  webhook: StoredWebhook;
  /** Requests under way. */
  readonly inFlight: number;
  /** The change up to which the log was read. */
  readonly readTo: number;
  /** All has failed for a while. */
  readonly isDown: boolean;
  /** Has room for more changes, and would send them now. */
  wantsMore(nowMs: number): boolean;
  /** The changes that come after `readTo`; none is the end. */
  take(page: Change[], nowMs: number): void;
  /** Some changes after `readTo` are gone for good. */
  skipTo(seq: number): void;
  /** What `merge` will be given is being read: what is recorded meanwhile may still be in it. */
  startReading(): void;
  /** What waits according to the database: somebody may have asked for more, or for it to be sooner. */
  merge(open: OpenDelivery[]): void;
  /** What to send now, which counts as under way from then on. */
  next(nowMs: number): Entry | undefined;
  finish(entry: Entry, outcome: Outcome, nowMs: number): DeliveryResult;
  /** It could not be sent after all, and nothing is known about the receiver. */
  putBack(entry: Entry): void;
  /** There is nothing to send: the change is gone for good. */
  drop(entry: Entry): void;
  /** The clock was set to so much later, or earlier: nothing waits shorter or longer for it. */
  shift(byMs: number): void;
  /** What is not recorded yet, if there is anything but, unless it is asked for, a position that has moved on. */
  progress(nowMs: number, withPosition: boolean): Progress | undefined;
  /** `progress` as it was given is recorded. */
  confirm(progress: Progress): void;
}

export interface CourierOptions {
  /** Deliveries that are not done, at most. */
  maxOpen: number;
  /** From 0 to 1. */
  random(): number;
}

export function createCourier(
  initial: StoredWebhook,
  open: OpenDelivery[],
  { maxOpen, random }: CourierOptions,
): Courier {
  const queue = createPlantQueue();
  const unrecorded = new Map<number, DeliveryRecord>();
  /** While what is open is read. */
  let recorded: Set<number> | undefined;
  let recordedPosition = initial.position;
  let { position: readTo, replay, failing, disabledMs } = initial;
  let stateChanged = false;
  const pace = createPace(initial.failing?.sinceMs);
  /** Requests under way, those of them that were tried before, and if the last one was. */
  let inFlight = 0;
  let retrying = 0;
  let wasRetry = false;

  const courier: Courier = {
    webhook: initial,
    get inFlight() {
      return inFlight;
    },
    get readTo() {
      return readTo;
    },
    get isDown() {
      return pace.isDown;
    },
    wantsMore(nowMs) {
      const hasRoom = queue.sizeUpTo(readTo) < maxOpen && queue.heldChars < MAX_HELD_CHARS;
      return disabledMs === null && pace.maySendNew(nowMs) && hasRoom && inFlight + queue.fresh.size < pace.window;
    },
    take(page, nowMs) {
      for (const change of page) {
        if (replay && change.seq > replay.to) return resume();
        if (queue.sizeUpTo(readTo) >= maxOpen) return;
        if (isWanted(courier.webhook, change) && !queue.get(change.seq)) addNew(change, nowMs);
        readTo = change.seq; // last: what could not be added is read again
      }
      if (replay && page.length === 0) resume();
    },
    skipTo(seq) {
      readTo = Math.max(readTo, seq);
    },
    startReading() {
      recorded = new Set();
    },
    merge(open) {
      for (const delivery of open) {
        const known = queue.get(delivery.seq);
        const isDone = unrecorded.has(delivery.seq) || recorded?.has(delivery.seq);
        if (!known && isDone) continue; // though the database did not know yet
        if (!known) {
          add(toEntry(delivery));
          continue;
        }
        const isWantedAgain = known.attempts > 0 && delivery.attempts === 0 && !unrecorded.has(delivery.seq);
        if (isUnderWay(known)) {
          known.again ||= isWantedAgain || (delivery.attempts === 0 && delivery.dueMs > (known.startedMs ?? 0));
        } else if (known.aside && (isWantedAgain || delivery.dueMs < known.dueMs)) {
          Object.assign(known, delivery, { notBeforeMs: 0 });
          queue.update(known);
        }
      }
      recorded = undefined;
    },
    next(nowMs) {
      if (disabledMs !== null || inFlight >= pace.window || !pace.maySend(nowMs)) return undefined;
      const entry = nextEntry(nowMs);
      if (!entry) return undefined;
      wasRetry = entry.aside;
      entry.wasRetry = entry.aside;
      if (entry.aside) retrying++;
      entry.wasHurried ||= entry.hurried;
      entry.startedMs = nowMs;
      inFlight++;
      queue.update(entry);
      return entry;
    },
    finish(entry, outcome, nowMs) {
      const { startedMs = nowMs, hurried, again } = entry;
      end(entry);
      entry.attempts++;
      if (outcome.delivered) {
        if (pace.isOutage(nowMs)) hurry(nowMs);
        pace.succeed(outcome.durationMs);
        if (failing && disabledMs === null) {
          failing = null;
          stateChanged = true;
        }
        return settle(entry, 'delivered', outcome, nowMs);
      }
      pace.fail(outcome, entry.attempts === 1 ? startedMs : undefined, nowMs);
      noteFailure(outcome, nowMs);
      entry.notBeforeMs = nowMs + (outcome.retryAfterMs ?? 0);
      const waitMs = RETRY_AFTER_MS[entry.attempts - 1];
      if (again) {
        entry.attempts = 0;
        entry.dueMs = nowMs;
      } else if (hurried && startedMs < entry.dueMs) {
        entry.attempts--; // an attempt too many: the next one comes when it was to come
      } else {
        if (waitMs === undefined) return settle(entry, 'dead', outcome, nowMs);
        const spreadMs = waitMs * (1 + SPREAD * (2 * random() - 1));
        entry.dueMs = Math.round(Math.max(nowMs + spreadMs, entry.notBeforeMs));
        entry.wasHurried = false;
      }
      record(entry, 'waiting', outcome, nowMs);
      putAside(entry.plantId);
      queue.update(entry);
      return 'failed';
    },
    putBack(entry) {
      end(entry);
      queue.update(entry);
    },
    drop(entry) {
      end(entry);
      settle(entry, 'dead', { delivered: false, error: 'The change was pruned', durationMs: 0 }, entry.dueMs);
    },
    shift(byMs) {
      pace.shift(byMs);
      queue.shift(byMs);
      if (!failing || disabledMs !== null) return;
      failing = { ...failing, sinceMs: failing.sinceMs + byMs };
      stateChanged = true;
    },
    progress(nowMs, withPosition) {
      for (const entry of queue.all()) {
        if (!entry.aside && entry.startedMs !== undefined && nowMs - entry.startedMs >= SLOW_MS)
          putAside(entry.plantId);
      }
      const position = positionNow();
      const hasMoved = withPosition && position !== recordedPosition;
      if (unrecorded.size === 0 && !stateChanged && !hasMoved) return undefined;
      const { id, epoch } = courier.webhook;
      return { id, epoch, position, failing, disabledMs, records: [...unrecorded.values()] };
    },
    confirm({ position, failing: recordedFailing, disabledMs: recordedDisabledMs, records }) {
      recordedPosition = position;
      if (recordedFailing === failing && recordedDisabledMs === disabledMs) stateChanged = false;
      for (const one of records) {
        recorded?.add(one.seq);
        if (unrecorded.get(one.seq) === one) unrecorded.delete(one.seq);
      }
    },
  };

  courier.merge(open);
  return courier;

  function addNew(change: Change, nowMs: number): void {
    const { seq, plant } = change;
    add(toEntry({ seq, plantId: plant.id, attempts: 0, dueMs: nowMs }, change));
  }

  function add(entry: Entry): void {
    queue.add(entry);
    if (queue.ofPlant(entry.plantId).some(({ aside }) => aside)) putAside(entry.plantId);
  }

  /** Behind one that waits, all wait: as records, so that the position can pass them. */
  function putAside(plantId: bigint): void {
    for (const entry of queue.ofPlant(plantId)) {
      if (!isUnderWay(entry)) queue.forget(entry);
      if (entry.aside) continue;
      entry.aside = true;
      queue.update(entry);
      if (!unrecorded.has(entry.seq)) record(entry, 'waiting');
    }
  }

  /** What is new and what is tried again take turns, and neither may take all places from the other. */
  function nextEntry(nowMs: number): Entry | undefined {
    const [next] = pace.maySendNew(nowMs) ? queue.fresh : [];
    if (next && (wasRetry || retrying >= Math.max(1, pace.window >> 1))) return next;
    // What the log has not been read up to has to wait: in a replay, others of its plant may come before it.
    return queue.due(nowMs, readTo) ?? next;
  }

  function end(entry: Entry): void {
    entry.startedMs = undefined;
    entry.hurried = false;
    entry.again = false;
    inFlight--;
    if (entry.wasRetry) retrying--;
  }

  /** The receiver is back: all that waits is tried, and what fails then goes on as it was to. */
  function hurry(nowMs: number): void {
    for (const entry of queue.all()) {
      entry.hurried = entry.aside && !isUnderWay(entry) && !entry.wasHurried && entry.notBeforeMs <= nowMs;
      queue.update(entry);
    }
  }

  function settle(entry: Entry, status: 'delivered' | 'dead', outcome: Outcome, nowMs: number): DeliveryResult {
    record(entry, status, outcome, nowMs);
    queue.remove(entry);
    return status;
  }

  function noteFailure({ code, error = '' }: Outcome, nowMs: number): void {
    if (disabledMs !== null) return; // and why is known
    if (failing?.reason !== error) stateChanged = true;
    failing = { sinceMs: failing?.sinceMs ?? nowMs, reason: error };
    if (code === GONE) disable('The receiver answered 410 (gone)', nowMs);
    else if (nowMs - failing.sinceMs >= DISABLED_AFTER_MS) disable(`Nothing but failures for 5 days: ${error}`, nowMs);
  }

  function disable(reason: string, nowMs: number): void {
    failing = { sinceMs: failing?.sinceMs ?? nowMs, reason };
    disabledMs = nowMs;
    stateChanged = true;
  }

  function record(entry: Entry, status: DeliveryRecord['status'], outcome?: Outcome, nowMs?: number): void {
    const { seq, plantId, attempts, dueMs } = entry;
    const { code = null, answer = null, error = null } = outcome ?? {};
    unrecorded.set(seq, { seq, plantId, attempts, dueMs, status, timeMs: nowMs ?? null, code, answer, error });
  }

  function positionNow(): number {
    let position = readTo;
    for (const { aside, seq } of queue.all()) if (!aside) position = Math.min(position, seq - 1);
    return position;
  }

  function resume(): void {
    readTo = Math.max(readTo, replay?.resume ?? 0);
    replay = null;
  }
}
