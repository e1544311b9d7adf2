// The deliveries of a webhook that are not done. Those of one plant are sent one after the other, by the numbers of
// their changes; those of different plants side by side.

import type { Change } from '../domain/change.ts';
import { charsOf } from '../domain/page-size.ts';
import type { OpenDelivery } from '../domain/webhook.ts';

export interface Entry extends OpenDelivery {
  /** Not there where it has to wait: then it is read again. */
  change: Change | undefined;
  /** It has a record of its own, so that the position may pass it. */
  aside: boolean;
  /** While it is under way. */
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

export function toEntry(delivery: OpenDelivery, change?: Change): Entry {
  return {
    ...delivery,
    change,
    aside: change === undefined,
    startedMs: undefined,
    wasRetry: false,
    hurried: false,
    wasHurried: false,
    notBeforeMs: 0,
    again: false,
  };
}

export interface PlantQueue {
  readonly size: number;
  /** Of changes that wait for their turn. */
  readonly heldChars: number;
  /** The first of each plant that is neither under way nor put aside. */
  readonly fresh: ReadonlySet<Entry>;
  /** The first of a plant that was put aside and is due, among those up to this change. */
  due(nowMs: number, upTo: number): Entry | undefined;
  get(seq: number): Entry | undefined;
  all(): Iterable<Entry>;
  ofPlant(plantId: bigint): readonly Entry[];
  /** How many there are up to this change. */
  sizeUpTo(seq: number): number;
  add(entry: Entry): void;
  remove(entry: Entry): void;
  /** To be called when something about it is no longer what it was. */
  update(entry: Entry): void;
  /** It has to wait: its change is read again then. */
  forget(entry: Entry): void;
  /** The clock was set to so much later, or earlier: what waits does so as long as it was to. */
  shift(byMs: number): void;
}

export function createPlantQueue(): PlantQueue {
  const entries = new Map<number, Entry>();
  const plants = new Map<bigint, Entry[]>();
  const fresh = new Set<Entry>();
  const waiting = new Set<Entry>();
  /** None of those that wait, up to this change, is due before. */
  let nextDue = { ms: Number.NEGATIVE_INFINITY, upTo: 0 };
  let heldChars = 0;
  let lastSeq = 0;

  return {
    get size() {
      return entries.size;
    },
    get heldChars() {
      return heldChars;
    },
    fresh,
    due(nowMs, upTo) {
      if (upTo === nextDue.upTo && nowMs < nextDue.ms) return undefined;
      let earliestMs = Number.POSITIVE_INFINITY;
      for (const entry of waiting) {
        if (entry.seq > upTo) continue;
        if (entry.hurried || entry.dueMs <= nowMs) return entry;
        earliestMs = Math.min(earliestMs, entry.dueMs);
      }
      nextDue = { ms: earliestMs, upTo };
      return undefined;
    },
    get: (seq) => entries.get(seq),
    all: () => entries.values(),
    ofPlant: (plantId) => plants.get(plantId) ?? [],
    sizeUpTo(seq) {
      if (seq >= lastSeq) return entries.size;
      return [...entries.keys()].filter((own) => own <= seq).length;
    },
    add(entry) {
      lastSeq = Math.max(lastSeq, entry.seq);
      entries.set(entry.seq, entry);
      const queue = plants.get(entry.plantId) ?? [];
      plants.set(entry.plantId, queue);
      queue.push(entry);
      if (entry.change) heldChars += charsOf(entry.change.plant);
      // What is under way stays first; a change that is sent once more may come before others that wait.
      if (queue.length > 1) {
        forget(entry);
        queue.sort((a, b) => Number(isUnderWay(b)) - Number(isUnderWay(a)) || a.seq - b.seq);
      }
      update(entry);
    },
    remove(entry) {
      forget(entry);
      entries.delete(entry.seq);
      fresh.delete(entry);
      waiting.delete(entry);
      const rest = (plants.get(entry.plantId) ?? []).filter((other) => other !== entry);
      if (rest.length > 0) plants.set(entry.plantId, rest);
      else plants.delete(entry.plantId);
      update(entry);
    },
    update,
    forget,
    shift(byMs) {
      for (const entry of entries.values()) {
        entry.dueMs += byMs;
        entry.notBeforeMs += byMs;
        if (entry.startedMs !== undefined) entry.startedMs += byMs;
      }
      nextDue.ms = Number.NEGATIVE_INFINITY; // to be found out again
    },
  };

  function update({ plantId }: Entry): void {
    for (const [at, entry] of (plants.get(plantId) ?? []).entries()) {
      const isNext = at === 0 && !isUnderWay(entry);
      if (!isNext || entry.aside) fresh.delete(entry);
      else fresh.add(entry);
      if (!isNext || !entry.aside) waiting.delete(entry);
      else waiting.add(entry);
    }
    nextDue.ms = Number.NEGATIVE_INFINITY; // to be found out again
  }

  function forget(entry: Entry): void {
    if (entry.change) heldChars -= charsOf(entry.change.plant);
    entry.change = undefined;
  }
}

export function isUnderWay({ startedMs }: Entry): boolean {
  return startedMs !== undefined;
}
