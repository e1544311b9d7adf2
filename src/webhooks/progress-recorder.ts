// Saves the progress of all deliveries: outcomes every 100 ms, positions without outcomes every 2 s.

import type { Progress } from '../domain/webhook-store.ts';
import { AFTER_BUG_MS, type DeliveryContext, type WebhookDelivery } from './webhook-delivery.ts';

/** Interval for saving outcomes. */
export const SAVE_EVERY_MS = 100;
const SAVE_POSITION_EVERY_MS = 2000;

/** Saves progress to the store, with at most one save in progress. */
export class ProgressRecorder {
  /** True while progress cannot be saved. The loop then sends nothing, because it would have to send it again later. */
  isFailing = false;
  private saving: Promise<void> | undefined;
  private positionsSavedMs = Number.NEGATIVE_INFINITY;
  private pausedUntilMs = Number.NEGATIVE_INFINITY;
  private readonly context: Pick<DeliveryContext, 'clock' | 'reportIfBug'>;
  private readonly record: (progress: Progress[]) => Promise<string[]>;
  private readonly deliveries: ReadonlyMap<string, WebhookDelivery>;

  /** `record` saves progress and returns the ids of the webhooks that this node still owns. */
  constructor(
    context: ProgressRecorder['context'],
    deliveries: ProgressRecorder['deliveries'],
    record: ProgressRecorder['record'],
  ) {
    this.context = context;
    this.deliveries = deliveries;
    this.record = record;
  }

  /** Saves unsaved progress, unless a save is in progress. */
  save(): void {
    const nowMs = this.context.clock.monotonicMs();
    if (nowMs >= this.pausedUntilMs) this.start(nowMs - this.positionsSavedMs >= SAVE_POSITION_EVERY_MS);
  }

  /** Saves all progress, including positions. */
  async saveAll(): Promise<void> {
    await this.saving;
    await this.start(true);
  }

  private start(withPositions: boolean): Promise<void> {
    this.saving ??= this.saveNow(withPositions).finally(() => {
      this.saving = undefined;
    });
    return this.saving;
  }

  private async saveNow(withPositions: boolean): Promise<void> {
    const { clock, reportIfBug } = this.context;
    const nowMs = clock.monotonicMs();
    try {
      const collected = new Map<WebhookDelivery, Progress>();
      for (const delivery of this.deliveries.values()) {
        const progress = delivery.queue.progress(nowMs, withPositions);
        if (progress) collected.set(delivery, progress);
      }
      if (withPositions) this.positionsSavedMs = nowMs;
      const accepted = new Set(collected.size > 0 ? await this.record([...collected.values()]) : []);
      for (const [delivery, progress] of collected) delivery.confirm(progress, accepted.has(progress.id));
      this.isFailing = false;
    } catch (error) {
      this.isFailing = true;
      if (reportIfBug(error)) this.pausedUntilMs = clock.monotonicMs() + AFTER_BUG_MS;
    }
  }
}
