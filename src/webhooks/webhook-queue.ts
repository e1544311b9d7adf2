// Everything about the deliveries of one webhook that needs no I/O and no clock: which delivery is sent next, when a failed
// one is tried again, how far the change log was read, and what of it is not saved yet.

import type { Change } from '../domain/change.ts';
import type { DeliveryRecord, OpenDelivery, Progress, StoredWebhook } from '../domain/webhook.ts';
import type { DeliveryResult } from '../observability/service-events.ts';
import { isInFlight, type PendingDelivery, PerPlantQueue, toPending } from './per-plant-queue.ts';
import type { Outcome } from './receiver-client.ts';
import { ReceiverHealth } from './receiver-health.ts';

/** Waits after each failure: 5 s, 5 and 30 min, 2, 5, 10, 14, 20 and 24 h. A failure after the last makes a dead letter. */
export const RETRY_AFTER_MS = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400].map((s) => s * 1000);
/** Largest part by which each wait is randomly shorter or longer, so that retries do not come in bursts. */
const JITTER = 0.2;
/** Characters of changes in memory above which no more are read; one more page may come. */
const MAX_HELD_CHARS = 32 * 1024;
/** Duration after which a request is deferred, so that the position can pass it. */
const SLOW_MS = 1000;

/** `maxOpen` is the largest number of deliveries that are not done. `random` returns a number from 0 to 1. */
type WebhookQueueOptions = { maxOpen: number; random(): number };

export class WebhookQueue {
  /** The webhook as it was last read. A newer one counts from the next change on. */
  webhook: StoredWebhook;
  /** Number of requests in flight. */
  inFlight = 0;
  /** Number of the last change that was read. */
  readTo: number;
  private readonly options: WebhookQueueOptions;
  private readonly pending = new PerPlantQueue();
  private readonly receiver: ReceiverHealth;
  private replay: StoredWebhook['replay'];
  private retriesInFlight = 0;
  private wasLastRetry = false;
  private readonly unsaved = new Map<number, DeliveryRecord>();
  private savedPosition: number;
  /** Numbers of the changes whose records were saved since `startReload`. */
  private savedDuringReload: Set<number> | undefined;

  constructor(webhook: StoredWebhook, open: OpenDelivery[], options: WebhookQueueOptions) {
    this.webhook = webhook;
    this.options = options;
    this.readTo = webhook.position;
    this.savedPosition = webhook.position;
    this.replay = webhook.replay;
    this.receiver = new ReceiverHealth(webhook);
    this.merge(open);
  }

  /** True if the last attempts have all failed. */
  get isDown(): boolean {
    return this.receiver.isDown;
  }

  private get hasRoom(): boolean {
    return this.pending.sizeUpTo(this.readTo) < this.options.maxOpen;
  }

  /** True if more changes would be sent now. */
  wantsMore(nowMs: number): boolean {
    const { receiver, pending } = this;
    const isBusy = this.inFlight + pending.fresh.size >= receiver.window;
    return !isBusy && pending.heldChars < MAX_HELD_CHARS && this.hasRoom && receiver.maySendNew(nowMs);
  }

  /** Adds the changes that follow `readTo`. An empty page means that there are none. */
  addPage(page: Change[], nowMs: number): void {
    for (const change of page) {
      const { seq, type, plant } = change;
      const isReplayed = this.replay !== null && seq > this.replay.to;
      if (isReplayed) this.endReplay();
      if (isReplayed || !this.hasRoom) return;
      if (this.webhook.events.includes(type) && !this.pending.bySeq.has(seq))
        this.add(toPending({ seq, plantId: plant.id, attempts: 0, dueMs: nowMs }, change));
      this.readTo = seq; // last: a change that could not be added is read again
    }
    if (page.length === 0) this.endReplay();
  }

  /** Skips changes up to this one, which were pruned. */
  skipTo(seq: number): void {
    this.readTo = Math.max(this.readTo, seq);
  }

  /** Must be called before the deliveries for `merge` are read: they may lack what is saved meanwhile. */
  startReload(): void {
    this.savedDuringReload = new Set();
  }

  /** Adds the open deliveries of the database, among which may be retries that somebody has asked for. */
  merge(open: OpenDelivery[]): void {
    for (const delivery of open) {
      const known = this.pending.bySeq.get(delivery.seq);
      const isUnsaved = this.unsaved.has(delivery.seq);
      if (known) this.mergeKnown(known, delivery, isUnsaved);
      else if (!isUnsaved && !this.savedDuringReload?.has(delivery.seq)) this.add(toPending(delivery));
    }
    this.savedDuringReload = undefined;
  }

  private mergeKnown(known: PendingDelivery, delivery: OpenDelivery, isUnsaved: boolean): void {
    if (delivery.attempts > 0) return; // a retry starts with no attempts
    const isReset = known.attempts > 0 && !isUnsaved;
    if (isInFlight(known)) {
      known.isRetryRequested ||= isReset || delivery.dueMs > (known.startedMs ?? 0);
    } else if (known.isDeferred && (isReset || delivery.dueMs < known.dueMs)) {
      Object.assign(known, delivery, { notBeforeMs: Number.NEGATIVE_INFINITY });
    }
  }

  /** Returns the delivery to send now, which is in flight from then on. */
  next(nowMs: number): PendingDelivery | undefined {
    if (this.inFlight >= this.receiver.window || !this.receiver.maySend(nowMs)) return undefined;
    const delivery = this.choose(nowMs);
    if (!delivery) return undefined;
    this.wasLastRetry = delivery.isDeferred;
    delivery.isRetry = delivery.isDeferred;
    delivery.startedMs = nowMs;
    this.inFlight++;
    if (delivery.isRetry) this.retriesInFlight++;
    this.pending.update(delivery);
    return delivery;
  }

  /** Alternates between new changes and retries, and leaves each of them half of the requests. */
  private choose(nowMs: number): PendingDelivery | undefined {
    const [fresh] = this.receiver.maySendNew(nowMs) ? this.pending.fresh : [];
    if (fresh && (this.wasLastRetry || this.retriesInFlight >= Math.max(1, this.receiver.window >> 1))) return fresh;
    // Not beyond `readTo`: a replay may still add earlier changes of the same plant.
    return this.pending.findDue(nowMs, this.readTo) ?? fresh;
  }

  finish(delivery: PendingDelivery, outcome: Outcome, nowMs: number): DeliveryResult {
    const { startedMs = nowMs, isRetryRequested } = delivery;
    const isExtra = delivery.extraAttempt === 'due' && startedMs < delivery.dueMs;
    this.land(delivery);
    delivery.attempts++;
    if (outcome.delivered) {
      if (this.receiver.isOutage(nowMs)) this.grantExtraAttempts(nowMs);
      this.receiver.succeed(outcome.durationMs);
      return this.settle(delivery, 'delivered', outcome, nowMs);
    }
    this.receiver.fail(outcome, delivery.attempts === 1 ? startedMs : undefined, nowMs);
    delivery.notBeforeMs = nowMs + (outcome.retryAfterMs ?? 0);
    const waitMs = RETRY_AFTER_MS[delivery.attempts - 1];
    if (isRetryRequested) {
      delivery.attempts = 0;
      delivery.dueMs = nowMs;
    } else if (isExtra) {
      delivery.attempts--; // it does not count, and the schedule stays
    } else if (waitMs === undefined) {
      return this.settle(delivery, 'dead', outcome, nowMs);
    } else {
      const jitteredMs = waitMs * (1 + JITTER * (2 * this.options.random() - 1));
      delivery.dueMs = Math.max(nowMs + jitteredMs, delivery.notBeforeMs);
      delivery.extraAttempt = 'available';
    }
    this.record(delivery, 'waiting', outcome, nowMs);
    this.defer(delivery.plantId);
    this.pending.update(delivery);
    return 'failed';
  }

  /** Takes back a delivery that was not sent after all. */
  putBack(delivery: PendingDelivery): void {
    this.land(delivery);
    this.pending.update(delivery);
  }

  /** Ends a delivery whose change was pruned. */
  drop(delivery: PendingDelivery): void {
    this.land(delivery);
    const outcome = { delivered: false, error: 'The change was pruned', durationMs: 0 };
    this.settle(delivery, 'dead', outcome, delivery.dueMs);
  }

  /** Unsaved progress, if any. A changed position alone counts only when `withPosition` is true. */
  progress(nowMs: number, withPosition: boolean): Progress | undefined {
    const { failing, disabledMs, isUnsaved } = this.receiver;
    if (!withPosition && !isUnsaved && this.unsaved.size === 0 && this.inFlight === 0) return undefined;
    for (const { isDeferred, startedMs = nowMs, plantId } of this.pending.bySeq.values()) {
      if (!isDeferred && nowMs - startedMs >= SLOW_MS) this.defer(plantId);
    }
    let position = this.readTo;
    for (const { isDeferred, seq } of this.pending.bySeq.values())
      if (!isDeferred) position = Math.min(position, seq - 1);
    const hasMoved = withPosition && position !== this.savedPosition;
    if (this.unsaved.size === 0 && !isUnsaved && !hasMoved) return undefined;
    const { id, epoch } = this.webhook;
    return { id, epoch, position, failing, disabledMs, records: [...this.unsaved.values()] };
  }

  /** Must be called when what `progress` returned is saved. */
  confirm({ position, failing, disabledMs, records }: Progress): void {
    const { receiver } = this;
    this.savedPosition = position;
    if (failing === receiver.failing && disabledMs === receiver.disabledMs) receiver.isUnsaved = false;
    for (const record of records) {
      this.savedDuringReload?.add(record.seq);
      if (this.unsaved.get(record.seq) === record) this.unsaved.delete(record.seq);
    }
  }

  private add(delivery: PendingDelivery): void {
    this.pending.add(delivery);
    if (this.pending.ofPlant(delivery.plantId).some(({ isDeferred }) => isDeferred)) this.defer(delivery.plantId);
  }

  /** Gives every delivery of a plant a record of its own, so that the position can pass them. */
  private defer(plantId: bigint): void {
    for (const delivery of this.pending.ofPlant(plantId)) {
      if (!isInFlight(delivery)) this.pending.releaseChange(delivery);
      if (delivery.isDeferred) continue;
      delivery.isDeferred = true;
      this.pending.update(delivery);
      if (!this.unsaved.has(delivery.seq)) this.record(delivery, 'waiting');
    }
  }

  private land(delivery: PendingDelivery): void {
    if (delivery.extraAttempt === 'due') delivery.extraAttempt = 'used';
    delivery.startedMs = undefined;
    delivery.isRetryRequested = false;
    this.inFlight--;
    if (delivery.isRetry) this.retriesInFlight--;
  }

  /** Makes all pending deliveries due once, since the receiver responds again. */
  private grantExtraAttempts(nowMs: number): void {
    for (const delivery of this.pending.bySeq.values()) {
      const { isDeferred, extraAttempt, notBeforeMs } = delivery;
      if (isDeferred && !isInFlight(delivery) && extraAttempt === 'available' && notBeforeMs <= nowMs)
        delivery.extraAttempt = 'due';
    }
  }

  private settle(delivery: PendingDelivery, status: 'delivered' | 'dead', outcome: Outcome, nowMs: number) {
    this.record(delivery, status, outcome, nowMs);
    this.pending.remove(delivery);
    return status;
  }

  private record(delivery: PendingDelivery, status: DeliveryRecord['status'], outcome?: Outcome, nowMs?: number): void {
    const { seq, plantId, attempts, dueMs } = delivery;
    const { code = null, answer = null, error = null } = outcome ?? {};
    this.unsaved.set(seq, { seq, plantId, attempts, dueMs, status, timeMs: nowMs ?? null, code, answer, error });
  }

  private endReplay(): void {
    this.readTo = Math.max(this.readTo, this.replay?.resume ?? 0);
    this.replay = null;
  }
}
