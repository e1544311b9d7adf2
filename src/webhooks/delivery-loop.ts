// Runs the webhook delivery of this node: claims webhooks, follows the change log and drives the deliveries. The change
// log is the queue: after a crash the node sends every change again whose outcome was not saved.

import { setTimeout as sleep } from 'node:timers/promises';
import type { ChangeStore } from '../domain/change.ts';
import type { StoredWebhook } from '../domain/webhook.ts';
import type { DeliveryStore } from '../domain/webhook-store.ts';
import { paced } from '../lib/event-loop-turns.ts';
import { createBugReport, isUnavailable } from '../observability/bug-report.ts';
import type { Observe } from '../observability/service-events.ts';
import { ChangeLogReader, isPruned } from './change-log-reader.ts';
import { type DeliveryClock, SYSTEM_CLOCK, withMonotonicTimes } from './delivery-times.ts';
import { ProgressRecorder, SAVE_EVERY_MS } from './progress-recorder.ts';
import { MAX_ATTEMPT_MS, type ReceiverClient } from './receiver-client.ts';
import { type DeliveryContext, WebhookDelivery } from './webhook-delivery.ts';
import { WebhookQueue } from './webhook-queue.ts';

export const LEASE_TIMING = {
  /** Interval for renewing the lease and reloading webhooks. */
  renewEveryMs: 1000,
  /** Time without renewal after which other nodes claim this node's webhooks. */
  leaseMs: MAX_ATTEMPT_MS + 4000,
  /** Time that must remain of the lease to start an attempt: the maximum duration of an attempt. */
  attemptMs: MAX_ATTEMPT_MS,
};
/** Interval for sending deliveries that have become due. */
const PUMP_EVERY_MS = 250;
/** Delay before the loop follows the change log again after an error. */
const FOLLOW_AGAIN_MS = 1000;
/** Maximum number of open deliveries: per webhook, per webhook on a node with many webhooks, and in total. */
export const MAX_OPEN = 1000;
export const MIN_OPEN = 100;
const MAX_OPEN_IN_ALL = 100_000;
/** Number of webhooks whose open deliveries are loaded together. */
const STARTED_AT_ONCE = 100;
/** Maximum time that `stop` waits for requests in flight. */
const LAST_RESPONSES_MS = 2000;

/** Options of the delivery loop. */
export interface DeliveryOptions {
  store: DeliveryStore & ChangeStore;
  receiverClient: ReceiverClient;
  /** Id of this node, unique among the nodes on the same database. */
  node: string;
  observe: Observe;
  clock?: DeliveryClock | undefined;
  leaseTiming?: typeof LEASE_TIMING | undefined;
}

/** Delivers the changes to all webhooks that this node has claimed. */
export class DeliveryLoop {
  private readonly options: DeliveryOptions;
  private readonly leaseTiming: typeof LEASE_TIMING;
  /** The delivery store, with times on the monotonic clock. */
  private readonly store: DeliveryStore;
  private readonly deliveries = new Map<string, WebhookDelivery>();
  private readonly context: DeliveryContext;
  private readonly recorder: ProgressRecorder;
  private readonly timers: NodeJS.Timeout[];
  private readonly stopping = new AbortController();
  private isStopped = false;
  private claiming: Promise<void> | undefined;
  private isClaimDue = false;
  /** Ids of the webhooks that may send nothing until a claim that has not begun yet reloads them. */
  private readonly held: string[] = [];
  private isFollowing = false;
  /** End of the lease on both clocks: one cannot be set, the other advances while the machine sleeps. */
  private leaseEnd = { monotonicMs: Number.NEGATIVE_INFINITY, wallMs: Number.NEGATIVE_INFINITY };

  /** Starts the loop. */
  constructor(options: DeliveryOptions) {
    const { store, receiverClient, node, observe, clock = SYSTEM_CLOCK, leaseTiming = LEASE_TIMING } = options;
    const reportBug = createBugReport(observe);
    /** After a stop, errors are not bugs, because the store is closed. */
    const reportIfBug = (error: unknown) => {
      const isBug = !isUnavailable(error) && !this.isStopped;
      if (isBug) reportBug(error);
      return isBug;
    };
    this.options = options;
    this.leaseTiming = leaseTiming;
    this.store = withMonotonicTimes(store, clock);
    this.context = {
      clock,
      log: new ChangeLogReader(store),
      receiverClient,
      requests: { inFlight: 0, shared: 0 },
      observe,
      maySend: (id) => this.maySend(id),
      claim: () => this.claim(),
      reportIfBug,
    };
    this.recorder = new ProgressRecorder(this.context, this.deliveries, (progress) =>
      this.store.recordDeliveries(node, progress),
    );
    this.claim();
    this.timers = [
      setInterval(() => this.claim(), leaseTiming.renewEveryMs),
      setInterval(() => this.pumpAll(), PUMP_EVERY_MS),
      setInterval(() => this.recorder.save(), SAVE_EVERY_MS),
    ];
  }

  /** Reloads the webhooks, and from now on sends nothing by the old state of this one. */
  hold(id: string): void {
    this.held.push(id);
    this.claim();
  }

  /** Claims webhooks now. */
  claim(): void {
    this.isClaimDue = this.claiming !== undefined;
    if (this.claiming || this.stopping.signal.aborted) return;
    this.claiming = this.claimNow()
      .catch((error) => void this.context.reportIfBug(error)) // without a lease the loop sends nothing
      .finally(() => {
        this.claiming = undefined;
        if (this.isClaimDue) this.claim();
      });
  }

  /** Waits up to 2 s for requests in flight, saves all progress and releases the webhooks. */
  async stop(): Promise<void> {
    const { node } = this.options;
    this.stopping.abort();
    for (const timer of this.timers) clearInterval(timer);
    await this.claiming;
    const endMs = performance.now() + LAST_RESPONSES_MS;
    while (this.context.requests.inFlight > 0 && performance.now() < endMs) await sleep(10);
    await this.recorder.saveAll();
    for (const delivery of this.deliveries.values()) this.retire(delivery);
    await this.store.releaseWebhooks(node).catch(this.context.reportIfBug);
    this.isStopped = true;
  }

  private async claimNow(): Promise<void> {
    const { context, deliveries, held, store } = this;
    const reloaded = held.length;
    const { leaseMs } = this.leaseTiming;
    const leaseEnd = { monotonicMs: context.clock.monotonicMs() + leaseMs, wallMs: context.clock.wallMs() + leaseMs };
    const claimed = await store.claimWebhooks(this.options.node, leaseMs);
    this.leaseEnd = leaseEnd;
    context.log.noteChange(claimed.lastSeq);
    const webhooks = new Map(claimed.webhooks.map((webhook) => [webhook.id, webhook]));
    await this.updateAll(webhooks);
    held.splice(0, reloaded);
    await this.handOver(claimed.surplus, webhooks);
    const maxOpen = Math.max(MIN_OPEN, Math.min(MAX_OPEN, Math.floor(MAX_OPEN_IN_ALL / (webhooks.size + 1))));
    const added = [...webhooks.values()].filter(({ id }) => !deliveries.has(id));
    for (let at = 0; at < added.length; at += STARTED_AT_ONCE)
      await this.startDeliveries(added.slice(at, at + STARTED_AT_ONCE), maxOpen);
    this.readOn();
    if (!this.isFollowing) void this.follow();
  }

  /** Updates the deliveries of webhooks whose epoch is unchanged, and ends the others. */
  private async updateAll(webhooks: Map<string, StoredWebhook>): Promise<void> {
    for (const delivery of this.deliveries.values()) {
      const webhook = webhooks.get(delivery.queue.webhook.id);
      if (webhook?.epoch === delivery.queue.webhook.epoch) await delivery.update(webhook, this.store);
      else delivery.state = 'ending';
    }
    const isEnding = (delivery: WebhookDelivery) => delivery.state === 'ending';
    if (!this.deliveries.values().some(isEnding)) return;
    await this.recorder.saveAll();
    for (const delivery of this.deliveries.values().filter(isEnding)) if (delivery.isIdle) this.retire(delivery);
  }

  /** Releases the first `surplus` webhooks for other nodes, each as soon as it is idle and saved. */
  private async handOver(surplus: number, webhooks: Map<string, StoredWebhook>): Promise<void> {
    let at = 0;
    for (const delivery of this.deliveries.values()) delivery.setLeaving(at++ < surplus);
    const left = [...this.deliveries.values()].filter(({ isHandedOver }) => isHandedOver);
    if (left.length === 0) return;
    const ids = left.map(({ queue }) => queue.webhook.id);
    await this.store.releaseWebhooks(this.options.node, ids);
    for (const delivery of left) this.retire(delivery);
    for (const id of ids) webhooks.delete(id);
  }

  private async startDeliveries(webhooks: StoredWebhook[], maxOpen: number): Promise<void> {
    const open = await this.store.openDeliveries(webhooks.map(({ id }) => id));
    if (this.stopping.signal.aborted) return;
    for (const webhook of webhooks) {
      const queue = new WebhookQueue(webhook, open.get(webhook.id) ?? [], { maxOpen, random: Math.random });
      this.deliveries.set(webhook.id, new WebhookDelivery(queue, this.context));
    }
  }

  private retire(delivery: WebhookDelivery): void {
    delivery.state = 'ended';
    this.deliveries.delete(delivery.queue.webhook.id);
  }

  /** Follows the change log while this node has webhooks. If that fails, each claim finds new changes. */
  private async follow(): Promise<void> {
    const { log, reportIfBug } = this.context;
    const { signal } = this.stopping;
    this.isFollowing = true;
    while (this.deliveries.size > 0 && !signal.aborted) {
      try {
        for await (const changes of paced(this.options.store.follow({ after: log.lastSeq, signal }))) {
          const newest = changes.at(-1);
          if (newest) {
            log.noteChange(newest.seq);
            this.readOn();
          }
          if (this.deliveries.size === 0) break;
        }
      } catch (error) {
        if (!isPruned(error)) reportIfBug(error);
        await sleep(FOLLOW_AGAIN_MS, undefined, { signal }).catch(() => {}); // ends early when the loop stops
      }
    }
    this.isFollowing = false;
  }

  private readOn(): void {
    this.context.log.refresh();
    for (const delivery of this.deliveries.values()) delivery.readOn();
  }

  private pumpAll(): void {
    for (const delivery of this.deliveries.values()) delivery.pump();
  }

  private maySend(id: string): boolean {
    const { held, leaseEnd, recorder } = this;
    const { clock } = this.context;
    const { attemptMs } = this.leaseTiming;
    const isLeased =
      clock.monotonicMs() + attemptMs < leaseEnd.monotonicMs && clock.wallMs() + attemptMs < leaseEnd.wallMs;
    return isLeased && !held.includes(id) && !recorder.isFailing && !this.stopping.signal.aborted;
  }
}
