// Delivers changes to one webhook that this node has claimed. These are its states:
//
//                  claimed
//                     │
//                     ▼        the node has too many         nothing in flight,
//                ┌────────┐ ─────────────────────────▶ ┌─────────┐ nothing unsaved
//                │ active │                            │ leaving │ ────────┐
//                └────────┘ ◀───────────────────────── └─────────┘         │
//                     │          no longer too many         │              ▼
//                     │                                     │          ┌───────┐
//                     │  the webhook was changed, removed   │          │ ended │
//                     ▼  or disabled, or the claim is lost  ▼          └───────┘
//                ┌────────────────────────────────────────────┐            ▲
//                │                   ending                   │ ───────────┘
//                └────────────────────────────────────────────┘ nothing in flight
//
// active    Reads the change log and sends.
// leaving   Sends nothing new. Another node resumes from the progress that this node has saved.
// ending    Sends nothing new. Responses that still arrive are saved if the store accepts them.
// ended     The delivery loop has removed it and ignores responses that still arrive. A stop ends all deliveries.
//
// While it is active, its reading of the change log is in one of these states:
//
//   behind ──▶ reading ──▶ behind      it read some changes, or new changes arrived meanwhile
//                      └─▶ caught up   it read no change; the next change makes it behind again

import type { SentRequest } from '../domain/attempt-log.ts';
import type { StoredWebhook } from '../domain/webhook.ts';
import type { DeliveryStore, Progress } from '../domain/webhook-store.ts';
import type { Observe } from '../observability/service-events.ts';
import { type ChangeLogReader, isPruned } from './change-log-reader.ts';
import type { DeliveryClock } from './delivery-times.ts';
import type { PendingDelivery } from './per-plant-queue.ts';
import type { Outcome, ReceiverClient } from './receiver-client.ts';
import { toMessage, toSentRequest } from './signed-message.ts';
import type { WebhookQueue } from './webhook-queue.ts';

/** Pause after an unexpected error, before a retry. */
export const AFTER_BUG_MS = 1000;

/** Maximum number of requests in flight beyond the first one of each webhook. */
export const MAX_SHARED = 256;
/** Maximum number of requests in flight. */
export const MAX_IN_FLIGHT = 2048;

/** State and services that all deliveries of a node share. */
export interface DeliveryContext {
  clock: DeliveryClock;
  log: ChangeLogReader;
  receiverClient: ReceiverClient;
  /** Number of requests in flight, and how many of them are not the first of their webhook. */
  requests: { inFlight: number; shared: number };
  observe: Observe;
  /**
   * False without a valid lease, until a change of the webhook has been loaded, while progress cannot be saved, and after
   * the loop was stopped.
   */
  maySend(webhookId: string): boolean;
  /** Claims webhooks again, because a delivery is ending or has no more requests in flight. */
  claim(): void;
  /** Reports an error, unless the database is temporarily unavailable. Returns true if the error is a bug. */
  reportIfBug(error: unknown): boolean;
}

type SentOutcome = Outcome & { sent: SentRequest };

/** The delivery of changes to one webhook. */
export class WebhookDelivery {
  readonly queue: WebhookQueue;
  state: 'active' | 'leaving' | 'ending' | 'ended' = 'active';
  private reading: 'behind' | 'reading' | 'caught up' = 'behind';
  private isReloadDue = false;
  private pausedUntilMs = Number.NEGATIVE_INFINITY;
  private readonly context: DeliveryContext;

  constructor(queue: WebhookQueue, context: DeliveryContext) {
    this.queue = queue;
    this.context = context;
  }

  /** True if no request is in flight. */
  get isIdle(): boolean {
    return this.queue.inFlight === 0;
  }

  /** True if another node can take over without loss. */
  get isHandedOver(): boolean {
    const nowMs = this.context.clock.monotonicMs();
    return this.state === 'leaving' && this.isIdle && !this.queue.progress(nowMs, true);
  }

  /** Switches between active and leaving. */
  setLeaving(isLeaving: boolean): void {
    if (this.state === 'active' || this.state === 'leaving') this.state = isLeaving ? 'leaving' : 'active';
  }

  /** Applies a webhook that was reloaded, and loads the retries that a user has requested. */
  async update(webhook: StoredWebhook, store: DeliveryStore): Promise<void> {
    const { id, retries } = webhook;
    const isRetryNew = retries !== this.queue.webhook.retries;
    if (isRetryNew || this.isReloadDue) {
      this.queue.startReload();
      this.queue.merge((await store.openDeliveries([id])).get(id) ?? []);
    }
    this.queue.webhook = webhook;
    this.isReloadDue = isRetryNew; // once more, because an attempt that ended meanwhile may not have been saved
  }

  /** Must be called when new changes exist. */
  readOn(): void {
    if (this.reading === 'caught up') this.reading = 'behind';
    this.pump();
  }

  /** Sends every delivery that may be sent now, and reads more changes if the queue has room. */
  pump(): void {
    const { clock, requests } = this.context;
    while (this.maySend()) {
      // At the limit, a webhook continues when one of its requests ends, or when the loop pumps all webhooks again.
      if (this.isIdle ? requests.inFlight >= MAX_IN_FLIGHT : requests.shared >= MAX_SHARED) return;
      const delivery = this.queue.next(clock.monotonicMs());
      if (!delivery) {
        if (this.reading === 'behind' && this.queue.wantsMore(clock.monotonicMs())) this.read().catch(this.pauseIfBug);
        return;
      }
      this.deliver(delivery).catch(this.pauseIfBug);
    }
  }

  /** Must be called after the store saved `progress`, or rejected it because the claim is lost. */
  confirm(progress: Progress, isAccepted: boolean): void {
    this.queue.confirm(progress);
    const isDisabled = progress.disabledMs !== null;
    if (isAccepted && isDisabled) {
      const reason = progress.failing?.reason ?? '';
      this.context.observe({ kind: 'webhook_disabled', webhookId: progress.id, reason });
    }
    if (this.state === 'ending' || (isAccepted && !isDisabled)) return;
    this.state = 'ending';
    this.context.claim();
  }

  private maySend(): boolean {
    const { clock, maySend } = this.context;
    return this.state === 'active' && clock.monotonicMs() >= this.pausedUntilMs && maySend(this.queue.webhook.id);
  }

  private readonly pauseIfBug = (error: unknown): void => {
    const { clock, reportIfBug } = this.context;
    if (reportIfBug(error)) this.pausedUntilMs = clock.monotonicMs() + AFTER_BUG_MS;
  };

  private async read(): Promise<void> {
    const { clock, log } = this.context;
    const { readTo } = this.queue;
    const { version } = log;
    this.reading = 'reading';
    try {
      const page = await log.page(readTo).catch(async (error) => {
        if (!isPruned(error)) throw error;
        this.queue.skipTo(await log.lastPruned());
      });
      if (page) this.queue.addPage(page, clock.monotonicMs());
    } catch (error) {
      this.pauseIfBug(error);
    }
    // True at the end of the change log, or if the read failed.
    const isUnchanged = this.queue.readTo === readTo && log.version === version;
    this.reading = isUnchanged ? 'caught up' : 'behind';
    this.pump();
  }

  private async deliver(delivery: PendingDelivery): Promise<void> {
    const { requests, claim } = this.context;
    requests.inFlight++;
    if (this.queue.inFlight > 1) requests.shared++;
    const outcome = await this.attempt(delivery);
    if (outcome === 'pruned') this.queue.drop(delivery);
    else if (outcome === 'not sent' || this.state === 'ended') this.queue.putBack(delivery);
    else this.finish(delivery, outcome);
    requests.inFlight--;
    if (!this.isIdle) requests.shared--;
    if (this.state === 'ending' && this.isIdle) claim();
    if (outcome !== 'not sent') this.pump(); // otherwise the loop's next pump sends it
  }

  private async attempt(delivery: PendingDelivery): Promise<SentOutcome | 'pruned' | 'not sent'> {
    const { clock, log, receiverClient } = this.context;
    try {
      const change = delivery.change ?? (await log.find(delivery.seq));
      if (!change) return 'pruned';
      if (!this.maySend()) return 'not sent'; // after a slow read, the lease may end soon
      const { webhook } = this.queue;
      const timeMs = Math.floor(clock.wallMs());
      const message = toMessage(webhook, change, timeMs);
      const outcome = await receiverClient.post(webhook.url, message);
      return { ...outcome, sent: toSentRequest(message, webhook.format, timeMs) };
    } catch (error) {
      this.pauseIfBug(error);
      return 'not sent';
    }
  }

  private finish(delivery: PendingDelivery, outcome: SentOutcome): void {
    const { clock, observe } = this.context;
    const { queue } = this;
    const { isDown: wasDown } = queue;
    const attempt = delivery.attempts + 1;
    const result = queue.finish(delivery, outcome, clock.monotonicMs(), outcome.sent);
    const { code, error = '', durationMs } = outcome;
    const webhookId = queue.webhook.id;
    observe({ kind: 'delivery', webhookId, seq: delivery.seq, attempt, result, code, durationMs });
    if (queue.isDown && !wasDown) observe({ kind: 'webhook_failing', webhookId, reason: error });
    if (wasDown && !queue.isDown) observe({ kind: 'webhook_recovered', webhookId });
  }
}
