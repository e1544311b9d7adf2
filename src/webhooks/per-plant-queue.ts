// Holds the open deliveries of a webhook. Deliveries of one plant are sent one at a time, in the order of their
// changes. Deliveries of different plants are sent concurrently.

import type { Change } from '../domain/change.ts';
import { charsOf } from '../domain/page-size.ts';
import type { OpenDelivery } from '../domain/webhook-store.ts';

/** An open delivery in memory. */
export interface PendingDelivery extends OpenDelivery {
  /** Undefined if the change must be read again before it is sent. */
  change: Change | undefined;
  /** True if it has its own record, so that the position of the webhook can pass it. */
  isDeferred: boolean;
  /** Start time of the request in flight. */
  startedMs: number | undefined;
  /** True if it was deferred when the request in flight started. */
  isRetry: boolean;
  /** State of the one attempt outside the schedule, which is made when a receiver that was down responds again. */
  extraAttempt: 'available' | 'due' | 'used';
  /** Time before which the receiver accepts no attempt, from `Retry-After`. */
  notBeforeMs: number;
  /** True if a user requested a retry while a request was in flight. */
  isRetryRequested: boolean;
}

/** Returns a pending delivery. Without a change it is deferred. */
export function toPending(delivery: OpenDelivery, change?: Change): PendingDelivery {
  return {
    ...delivery,
    change,
    isDeferred: change === undefined,
    startedMs: undefined,
    isRetry: false,
    extraAttempt: 'available',
    notBeforeMs: Number.NEGATIVE_INFINITY,
    isRetryRequested: false,
  };
}

/** True if a request of the delivery is in flight. */
export function isInFlight({ startedMs }: PendingDelivery): boolean {
  return startedMs !== undefined;
}

/** The open deliveries of a webhook, ordered per plant. */
export class PerPlantQueue {
  /** Length of all changes in memory, in characters. */
  heldChars = 0;
  /** All deliveries by the number of their change. */
  readonly bySeq = new Map<number, PendingDelivery>();
  /** The first delivery of each plant, if it is neither in flight nor deferred. */
  readonly fresh = new Set<PendingDelivery>();
  /** The first delivery of each plant, if it is deferred and not in flight. */
  private readonly deferred = new Set<PendingDelivery>();
  private readonly byPlant = new Map<bigint, PendingDelivery[]>();
  private lastSeq = 0;

  /** Returns the deliveries of a plant in the order in which they are sent. */
  ofPlant(plantId: bigint): readonly PendingDelivery[] {
    return this.byPlant.get(plantId) ?? [];
  }

  /** Returns the number of deliveries up to this change. */
  sizeUpTo(seq: number): number {
    if (seq >= this.lastSeq) return this.bySeq.size;
    return [...this.bySeq.keys()].filter((own) => own <= seq).length;
  }

  /** Returns a deferred delivery that is due, is the first of its plant, and has a number up to `upTo`. */
  findDue(nowMs: number, upTo: number): PendingDelivery | undefined {
    for (const delivery of this.deferred) {
      const isDue = delivery.extraAttempt === 'due' || delivery.dueMs <= nowMs;
      if (isDue && delivery.seq <= upTo) return delivery;
    }
    return undefined;
  }

  /** Adds a delivery. */
  add(delivery: PendingDelivery): void {
    const { seq, plantId, change } = delivery;
    this.lastSeq = Math.max(this.lastSeq, seq);
    this.bySeq.set(seq, delivery);
    const ofPlant = this.byPlant.get(plantId) ?? [];
    this.byPlant.set(plantId, ofPlant);
    ofPlant.push(delivery);
    if (change) this.heldChars += charsOf(change.plant);
    if (ofPlant.length > 1) {
      this.releaseChange(delivery);
      // In a replay a change can precede others of its plant. A delivery in flight remains first.
      ofPlant.sort((a, b) => Number(isInFlight(b)) - Number(isInFlight(a)) || a.seq - b.seq);
    }
    this.update(delivery);
  }

  /** Removes a delivery. */
  remove(delivery: PendingDelivery): void {
    this.releaseChange(delivery);
    this.bySeq.delete(delivery.seq);
    this.fresh.delete(delivery);
    this.deferred.delete(delivery);
    const rest = this.ofPlant(delivery.plantId).filter((other) => other !== delivery);
    if (rest.length > 0) this.byPlant.set(delivery.plantId, rest);
    else this.byPlant.delete(delivery.plantId);
    this.update(delivery);
  }

  /** Must be called after a delivery was started, ended or deferred. */
  update({ plantId }: PendingDelivery): void {
    for (const [at, delivery] of this.ofPlant(plantId).entries()) {
      const isNext = at === 0 && !isInFlight(delivery);
      if (isNext && !delivery.isDeferred) this.fresh.add(delivery);
      else this.fresh.delete(delivery);
      if (isNext && delivery.isDeferred) this.deferred.add(delivery);
      else this.deferred.delete(delivery);
    }
  }

  /** Removes the change from memory. It is read again before it is sent. */
  releaseChange(delivery: PendingDelivery): void {
    if (delivery.change) this.heldChars -= charsOf(delivery.change.plant);
    delivery.change = undefined;
  }
}
