// The state of one webhook's deliveries, without I/O and without a clock. It selects the next delivery, schedules
// retries, and tracks the position in the change log and the unsaved progress.

import { printAttempt, type SentRequest } from '../domain/attempt-log.ts';
import type { Change } from '../domain/change.ts';
import type { StoredWebhook } from '../domain/webhook.ts';
import type { DeliveryRecord, OpenDelivery, Progress } from '../domain/webhook-store.ts';
import type { DeliveryResult } from '../observability/service-events.ts';
import { isInFlight, type PendingDelivery, PerPlantQueue, toPending } from './per-plant-queue.ts';
import type { Outcome } from './receiver-client.ts';
import { ReceiverHealth } from './receiver-health.ts';

/** Delay after each failure: 5 s, 5 and 30 min, 2, 5, 10, 14, 20 and 24 h. One more failure makes a dead letter. */
export const RETRY_AFTER_MS = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400].map((s) => s * 1000);
/** Maximum fraction by which each delay is randomly shortened or extended, so that retries do not come in bursts. */
export const JITTER = 0.2;
/** Characters of changes in memory above which the queue requests no more pages. One more page can be in flight. */
const MAX_HELD_CHARS = 32 * 1024;
/** Duration after which a request in flight is deferred, so that the position can pass it. */
const SLOW_MS = 1000;

/** `maxOpen` is the maximum number of open deliveries. `random` returns a number from 0 to 1. */
type WebhookQueueOptions = { maxOpen: number; random(): number };

/** An attempt that ended at `nowMs`. */
interface FinishedAttempt {
  outcome: Outcome;
  nowMs: number;
  sent: SentRequest | undefined;
}

/** The deliveries of one webhook. All times are on the monotonic clock. */
export class WebhookQueue {
  /** The webhook as it was last loaded. A newer one applies from the next change on. */
  webhook: StoredWebhook;
  /** Number of requests in flight. */
  inFlight = 0;
  /** Number of the last change that was read from the change log. */
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

  /** True if the queue could send more changes now. */
  wantsMore(nowMs: number): boolean {
    const { receiver, pending } = this;
    const isBusy = this.inFlight + pending.fresh.size >= receiver.window;
    return !isBusy && pending.heldChars < MAX_HELD_CHARS && this.hasRoom && receiver.maySendNew(nowMs);
  }

  /** Adds the changes that follow `readTo`. An empty page marks the end of the change log. */
  addPage(page: Change[], nowMs: number): void {
    for (const change of page) {
      const { seq, type, plant } = change;
      const isReplayed = this.replay !== null && seq > this.replay.to;
      if (isReplayed) this.endReplay();
      if (isReplayed || !this.hasRoom) return;
      if (this.webhook.events.includes(type) && !this.pending.bySeq.has(seq))
        this.add(toPending({ seq, plantId: plant.id, attempts: 0, dueMs: nowMs }, change));
      this.readTo = seq; // set last, so that a change which could not be added is read again
    }
    if (page.length === 0) this.endReplay();
  }

  /** Skips the changes up to this one, because they were pruned. */
  skipTo(seq: number): void {
    this.readTo = Math.max(this.readTo, seq);
  }

  /** Must be called before the deliveries for `merge` are loaded: they can lack records that are saved meanwhile. */
  startReload(): void {
    this.savedDuringReload = new Set();
  }

  /** Adds the open deliveries of the database, including retries that a user has requested. */
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
    if (delivery.attempts > 0) return; // a requested retry has zero attempts
    const isReset = known.attempts > 0 && !isUnsaved;
    if (isInFlight(known)) {
      known.isRetryRequested ||= isReset || delivery.dueMs > (known.startedMs ?? 0);
    } else if (known.isDeferred && (isReset || delivery.dueMs < known.dueMs)) {
      Object.assign(known, delivery, { notBeforeMs: Number.NEGATIVE_INFINITY });
    }
  }

  /** Returns the delivery to send now, if any, and marks it as in flight. */
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

  /** Alternates between new changes and retries, so that each gets half of the requests. */
  private choose(nowMs: number): PendingDelivery | undefined {
    const [fresh] = this.receiver.maySendNew(nowMs) ? this.pending.fresh : [];
    if (fresh && (this.wasLastRetry || this.retriesInFlight >= Math.max(1, this.receiver.window >> 1))) return fresh;
    // Deliveries beyond `readTo` are excluded, because a replay can still add earlier changes of the same plant.
    return this.pending.findDue(nowMs, this.readTo) ?? fresh;
  }

  /** Applies the outcome of an attempt, and schedules a retry if it failed. `sent` is the request for the attempt log. */
  finish(delivery: PendingDelivery, outcome: Outcome, nowMs: number, sent?: SentRequest): DeliveryResult {
    const { startedMs = nowMs, isRetryRequested } = delivery;
    const isExtra = delivery.extraAttempt === 'due' && startedMs < delivery.dueMs;
    this.land(delivery);
    delivery.attempts++;
    const attempt = { outcome, nowMs, sent };
    if (outcome.delivered) {
      if (this.receiver.isOutage(nowMs)) this.grantExtraAttempts(nowMs);
      this.receiver.succeed(outcome);
      return this.settle(delivery, 'delivered', attempt);
    }
    this.receiver.fail(outcome, delivery.attempts === 1 ? startedMs : undefined, nowMs);
    delivery.notBeforeMs = nowMs + (outcome.retryAfterMs ?? 0);
    const waitMs = RETRY_AFTER_MS[delivery.attempts - 1];
    if (isRetryRequested) {
      delivery.attempts = 0;
      delivery.dueMs = nowMs;
    } else if (isExtra) {
      delivery.attempts--; // an extra attempt does not count and does not change the schedule
    } else if (waitMs === undefined) {
      return this.settle(delivery, 'dead', attempt);
    } else {
      const jitteredMs = waitMs * (1 + JITTER * (2 * this.options.random() - 1));
      delivery.dueMs = Math.max(nowMs + jitteredMs, delivery.notBeforeMs);
      delivery.extraAttempt = 'available';
    }
    this.record(delivery, 'waiting', attempt);
    this.defer(delivery.plantId);
    this.pending.update(delivery);
    return 'failed';
  }

  /** Returns a delivery that was not sent to the queue. */
  putBack(delivery: PendingDelivery): void {
    this.land(delivery);
    this.pending.update(delivery);
  }

  /** Ends a delivery whose change was pruned. */
  drop(delivery: PendingDelivery): void {
    this.land(delivery);
    const outcome = { delivered: false, error: 'The change was pruned before it was delivered', durationMs: 0 };
    this.settle(delivery, 'dead', { outcome, nowMs: delivery.dueMs, sent: undefined });
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

  /** Must be called after the return value of `progress` was saved. */
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

  /** Creates a record for every delivery of a plant, so that the position can pass them. */
  private defer(plantId: bigint): void {
    for (const delivery of this.pending.ofPlant(plantId)) {
      if (!isInFlight(delivery)) this.pending.releaseChange(delivery);
      if (delivery.isDeferred) continue;
      delivery.isDeferred = true;
      this.pending.update(delivery);
      if (!this.unsaved.has(delivery.seq)) this.record(delivery, 'waiting');
    }
  }

  /** Marks a delivery as no longer in flight. */
  private land(delivery: PendingDelivery): void {
    if (delivery.extraAttempt === 'due') delivery.extraAttempt = 'used';
    delivery.startedMs = undefined;
    delivery.isRetryRequested = false;
    this.inFlight--;
    if (delivery.isRetry) this.retriesInFlight--;
  }

  /** Makes every deferred delivery due once, because the receiver responds again. */
  private grantExtraAttempts(nowMs: number): void {
    for (const delivery of this.pending.bySeq.values()) {
      const { isDeferred, extraAttempt, notBeforeMs } = delivery;
      if (isDeferred && !isInFlight(delivery) && extraAttempt === 'available' && notBeforeMs <= nowMs)
        delivery.extraAttempt = 'due';
    }
  }

  /** Ends a delivery: it is delivered or a dead letter. */
  private settle(delivery: PendingDelivery, status: 'delivered' | 'dead', attempt: FinishedAttempt) {
    this.record(delivery, status, attempt);
    this.pending.remove(delivery);
    return status;
  }

  private record(delivery: PendingDelivery, status: DeliveryRecord['status'], attempt?: FinishedAttempt): void {
    const { seq, plantId, attempts, dueMs } = delivery;
    const { code = null, answer = null, error = null } = attempt?.outcome ?? {};
    const timeMs = attempt?.nowMs ?? null;
    const unsavedLog = this.unsaved.get(seq)?.attemptLog ?? ''; // a line that is saved twice is read once
    const attemptLog = attempt?.sent ? printAttempt({ ...attempt.sent, ...attempt.outcome }) + unsavedLog : unsavedLog;
    this.unsaved.set(seq, { seq, plantId, attempts, dueMs, status, timeMs, code, answer, error, attemptLog });
  }

  private endReplay(): void {
    this.readTo = Math.max(this.readTo, this.replay?.resume ?? 0);
    this.replay = null;
  }
}
