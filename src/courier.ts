// What is under way for one webhook: which change is sent next, what waits for another attempt, and how far it has come.
// Changes of one plant are sent one after the other. Does no I/O and looks at no clock.

import type { Outcome } from './attempt.ts';
import type { Change } from './change.ts';
import { createPace } from './pace.ts';
import { charsOf } from './page.ts';
import { type DeliveryRecord, isWanted, type OpenDelivery, type Progress, type StoredWebhook } from './webhook.ts';

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

export interface Entry extends OpenDelivery {
  /** Not there where it has to wait: then it is read again. */
  change: Change | undefined;
  /** It has a record of its own, so that the position may pass it. */
  aside: boolean;
  startedMs: number | undefined;
  /** What is under way was tried, or put aside, before. */
  wasRetry: boolean;
  /** To be tried at once, besides its schedule: the receiver was down and answers again. Once before it is due. */
  hurried: boolean;
  wasHurried: boolean;
  /** The receiver has said so. */
  notBeforeMs: number;
  /** Somebody wants it again, while it is under way. */
  again: boolean;
}

const NEW = {
  change: undefined,
  aside: false,
  startedMs: undefined,
  wasRetry: false,
  hurried: false,
  wasHurried: false,
  notBeforeMs: 0,
  again: false,
};

export type Result = 'delivered' | 'failed' | 'dead';

export interface Courier {
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
  /** What waits according to the database: somebody may have asked for more, or for it to be sooner. */
  merge(open: OpenDelivery[]): void;
  /** What to send now, which counts as under way from then on. */
  next(nowMs: number): Entry | undefined;
  finish(entry: Entry, outcome: Outcome, nowMs: number): Result;
  /** It could not be sent after all, and nothing is known about the receiver. */
  putBack(entry: Entry): void;
  /** There is nothing to send: the change is gone for good. */
  drop(entry: Entry): void;
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
  webhook: StoredWebhook,
  open: OpenDelivery[],
  { maxOpen, random }: CourierOptions,
): Courier {
  const entries = new Map<number, Entry>();
  /** Those of one plant by ascending number: only the first may be sent. */
  const plants = new Map<bigint, Entry[]>();
  /** The first of each plant that is not under way: those not tried yet, and those put aside. */
  const fresh = new Set<Entry>();
  const waiting = new Set<Entry>();
  /** None of those that wait is due before. */
  let nextDueMs = Number.NEGATIVE_INFINITY;
  const unrecorded = new Map<number, DeliveryRecord>();
  let recordedPosition = webhook.position;
  let { position: readTo, replay, failing, disabledMs } = webhook;
  let stateChanged = false;
  const pace = createPace(webhook.failing?.sinceMs);
  /** Requests under way, those of them that were tried before, and if the last one was. */
  let inFlight = 0;
  let retrying = 0;
  let wasRetry = false;
  let heldChars = 0;
  /** The last change that the database had as waiting: the log may not be read up to it yet. */
  let lastLoaded = 0;

  const courier: Courier = {
    webhook,
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
      const hasRoom = reached() < maxOpen && heldChars < MAX_HELD_CHARS;
      return disabledMs === null && pace.maySendNew(nowMs) && hasRoom && inFlight + fresh.size < pace.window;
    },
    take(page, nowMs) {
      for (const change of page) {
        if (replay && change.seq > replay.to) return resume();
        if (reached() >= maxOpen) return;
        moveTo(change.seq);
        if (!isWanted(webhook, change) || entries.has(change.seq)) continue;
        add(toEntry(change, nowMs));
      }
      if (replay && page.length === 0) resume();
    },
    skipTo(seq) {
      moveTo(seq);
    },
    merge(open) {
      for (const delivery of open) {
        const known = entries.get(delivery.seq);
        if (!known && unrecorded.has(delivery.seq)) continue; // done, though the database does not know yet
        lastLoaded = Math.max(lastLoaded, delivery.seq);
        if (!known) add({ ...NEW, ...delivery, aside: true });
        else if (isUnderWay(known)) known.again ||= delivery.attempts === 0 && delivery.dueMs > (known.startedMs ?? 0);
        else if (known.aside && delivery.dueMs < known.dueMs) {
          Object.assign(known, delivery, { notBeforeMs: 0 });
          arrange(known.plantId);
        }
      }
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
      arrange(entry.plantId);
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
      arrange(entry.plantId);
      return 'failed';
    },
    putBack(entry) {
      end(entry);
      arrange(entry.plantId);
    },
    drop(entry) {
      end(entry);
      settle(entry, 'dead', { delivered: false, error: 'The change was pruned', durationMs: 0 }, entry.dueMs);
    },
    progress(nowMs, withPosition) {
      for (const entry of entries.values()) {
        if (!entry.aside && entry.startedMs !== undefined && nowMs - entry.startedMs >= SLOW_MS)
          putAside(entry.plantId);
      }
      const position = positionNow();
      const hasMoved = withPosition && position !== recordedPosition;
      if (unrecorded.size === 0 && !stateChanged && !hasMoved) return undefined;
      const { id, epoch } = webhook;
      return { id, epoch, position, failing, disabledMs, records: [...unrecorded.values()] };
    },
    confirm({ position, failing: recordedFailing, disabledMs: recordedDisabledMs, records }) {
      recordedPosition = position;
      if (recordedFailing === failing && recordedDisabledMs === disabledMs) stateChanged = false;
      for (const one of records) if (unrecorded.get(one.seq) === one) unrecorded.delete(one.seq);
    },
  };

  courier.merge(open);
  return courier;

  function toEntry(change: Change, nowMs: number): Entry {
    const { seq, plant } = change;
    return { ...NEW, seq, plantId: plant.id, attempts: 0, dueMs: nowMs, change };
  }

  function add(entry: Entry): void {
    entries.set(entry.seq, entry);
    const queue = plants.get(entry.plantId) ?? [];
    plants.set(entry.plantId, queue);
    queue.push(entry);
    if (queue.length > 1) entry.change = undefined;
    if (entry.change) heldChars += charsOf(entry.change.plant);
    // What is under way stays first; a change that is sent once more may come before others that wait.
    if (queue.length > 1) queue.sort((a, b) => Number(isUnderWay(b)) - Number(isUnderWay(a)) || a.seq - b.seq);
    if (queue.some(({ aside }) => aside)) putAside(entry.plantId);
    arrange(entry.plantId);
  }

  /** Behind one that waits, all wait: as records, so that the position can pass them. */
  function putAside(plantId: bigint): void {
    for (const entry of plants.get(plantId) ?? []) {
      if (!isUnderWay(entry)) forget(entry);
      if (entry.aside) continue;
      entry.aside = true;
      if (!unrecorded.has(entry.seq)) record(entry, 'waiting');
    }
  }

  function forget(entry: Entry): void {
    if (entry.change) heldChars -= charsOf(entry.change.plant);
    entry.change = undefined;
  }

  /** To be called when another one may be the first of its plant, or the first is no longer what it was. */
  function arrange(plantId: bigint): void {
    const queue = plants.get(plantId) ?? [];
    for (const [at, entry] of queue.entries()) {
      const isNext = at === 0 && !isUnderWay(entry);
      if (!isNext || entry.aside) fresh.delete(entry);
      else fresh.add(entry);
      if (!isNext || !entry.aside) waiting.delete(entry);
      else waiting.add(entry);
    }
    nextDueMs = Number.NEGATIVE_INFINITY; // to be found out again
  }

  /** What is new and what is tried again take turns, and neither may take all places from the other. */
  function nextEntry(nowMs: number): Entry | undefined {
    const [next] = pace.maySendNew(nowMs) ? fresh : [];
    if (next && (wasRetry || retrying >= Math.max(1, pace.window >> 1))) return next;
    return dueAgain(nowMs) ?? next;
  }

  /** What the log has not been read up to has to wait: in a replay, others of its plant may come before it. */
  function dueAgain(nowMs: number): Entry | undefined {
    if (nowMs < nextDueMs) return undefined;
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const entry of waiting) {
      if (entry.seq > readTo) continue;
      if (entry.hurried || entry.dueMs <= nowMs) return entry;
      earliestMs = Math.min(earliestMs, entry.dueMs);
    }
    nextDueMs = earliestMs;
    return undefined;
  }

  function moveTo(seq: number): void {
    readTo = Math.max(readTo, seq);
    nextDueMs = Number.NEGATIVE_INFINITY;
  }

  /** So many are open up to where the log was read. */
  function reached(): number {
    if (readTo >= lastLoaded) return entries.size;
    return [...entries.keys()].filter((seq) => seq <= readTo).length;
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
    for (const entry of entries.values()) {
      entry.hurried = entry.aside && !isUnderWay(entry) && !entry.wasHurried && entry.notBeforeMs <= nowMs;
    }
    nextDueMs = Number.NEGATIVE_INFINITY;
  }

  function settle(entry: Entry, status: 'delivered' | 'dead', outcome: Outcome, nowMs: number): Result {
    record(entry, status, outcome, nowMs);
    forget(entry);
    entries.delete(entry.seq);
    const rest = (plants.get(entry.plantId) ?? []).filter((other) => other !== entry);
    if (rest.length > 0) plants.set(entry.plantId, rest);
    else plants.delete(entry.plantId);
    arrange(entry.plantId);
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
    for (const { aside, seq } of entries.values()) if (!aside) position = Math.min(position, seq - 1);
    return position;
  }

  function resume(): void {
    moveTo(replay?.resume ?? 0);
    replay = null;
  }
}

function isUnderWay({ startedMs }: Entry): boolean {
  return startedMs !== undefined;
}
