// How well a receiver responds, and how fast it may be sent to. Each quick response allows one more concurrent request, each
// failure halves them. While everything fails, new changes are attempted with exponential backoff.

import type { StoredWebhook } from '../domain/webhook.ts';
import type { Outcome } from './receiver-client.ts';

const MAX_WINDOW = 32;
const QUICK_MS = 1000;
/** Statuses with which `Retry-After` pauses the whole webhook. */
const PAUSE_CODES = [429, 503];
const GONE = 410;
/** Rounds that may fail before new changes are held back, for one second at first, then twice as long each time. */
const PATIENT_ROUNDS = 2;
const FIRST_HOLD_MS = 1000;
const MAX_HOLD_MS = 5 * 60_000;
/** Consecutive failures after which a receiver counts as down, and the time after which that is an outage. */
const DOWN_AFTER_FAILURES = 3;
const OUTAGE_MS = 5000;
/** Time of nothing but failures after which a webhook is disabled. */
const DISABLED_AFTER_MS = 5 * 24 * 3_600_000;

export class ReceiverHealth {
  /** Time of the first of the consecutive failures, and reason of the last. */
  failing: StoredWebhook['failing'];
  disabledMs: number | null;
  /** True if `failing` or `disabledMs` has changed since it was saved. */
  isUnsaved = false;
  /** Number of requests that may be in flight. */
  window = 1;
  /** Consecutive failures. */
  private failures: number;
  /** A round fails when a new change fails whose request was started after the last round ended. */
  private failedRounds = 0;
  private roundEndMs = Number.NEGATIVE_INFINITY;
  private heldUntilMs = Number.NEGATIVE_INFINITY;
  private pausedUntilMs = Number.NEGATIVE_INFINITY;

  constructor({ failing, disabledMs }: Pick<StoredWebhook, 'failing' | 'disabledMs'>) {
    this.failing = failing;
    this.disabledMs = disabledMs;
    this.failures = failing ? DOWN_AFTER_FAILURES : 0;
  }

  get isDown(): boolean {
    return this.failures >= DOWN_AFTER_FAILURES;
  }

  /** True if the receiver was down for so long that all pending deliveries are attempted once it responds. */
  isOutage(nowMs: number): boolean {
    return this.isDown && nowMs - (this.failing?.sinceMs ?? nowMs) >= OUTAGE_MS;
  }

  /** False if the webhook is disabled, and while the receiver has asked for a pause. */
  maySend(nowMs: number): boolean {
    return this.disabledMs === null && nowMs >= this.pausedUntilMs;
  }

  /** False, too, while new changes are held back. */
  maySendNew(nowMs: number): boolean {
    return this.maySend(nowMs) && nowMs >= this.heldUntilMs;
  }

  succeed(durationMs: number): void {
    this.window = durationMs < QUICK_MS ? Math.min(this.window + 1, MAX_WINDOW) : Math.max(1, this.window >> 1);
    this.failures = 0;
    this.failedRounds = 0;
    this.heldUntilMs = Number.NEGATIVE_INFINITY;
    if (this.failing) this.setFailing(null);
  }

  /** `newStartedMs` is the start of the attempt, if it was the first for its change. */
  fail(outcome: Outcome, newStartedMs: number | undefined, nowMs: number): void {
    const { code = 0, error = '', retryAfterMs } = outcome;
    const { sinceMs = nowMs, reason } = this.failing ?? {};
    this.window = Math.max(1, this.window >> 1);
    this.failures++;
    if (code === GONE) this.disable({ sinceMs, reason: 'The receiver answered 410 (gone)' }, nowMs);
    else if (nowMs - sinceMs >= DISABLED_AFTER_MS)
      this.disable({ sinceMs, reason: `Nothing but failures for 5 days: ${error}` }, nowMs);
    else if (reason !== error) this.setFailing({ sinceMs, reason: error });
    if (retryAfterMs !== undefined && PAUSE_CODES.includes(code))
      this.pausedUntilMs = Math.max(this.pausedUntilMs, nowMs + retryAfterMs);
    if (newStartedMs === undefined || newStartedMs < this.roundEndMs) return;
    this.roundEndMs = nowMs;
    if (++this.failedRounds <= PATIENT_ROUNDS) return;
    this.window = 1;
    this.heldUntilMs = nowMs + Math.min(FIRST_HOLD_MS * 2 ** (this.failedRounds - PATIENT_ROUNDS - 1), MAX_HOLD_MS);
  }

  private disable(failing: StoredWebhook['failing'], nowMs: number): void {
    this.setFailing(failing);
    this.disabledMs ??= nowMs;
  }

  /** Once the webhook is disabled, the reason stays. */
  private setFailing(failing: StoredWebhook['failing']): void {
    if (this.disabledMs !== null) return;
    this.failing = failing;
    this.isUnsaved = true;
  }
}
