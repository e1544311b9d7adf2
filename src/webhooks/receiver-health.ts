// Tracks how well a receiver responds, and limits the request rate accordingly. Each quick response allows one more
// concurrent request. Each failure, and each slow or overlong response, halves the limit. While every attempt fails, new
// changes are attempted with exponential backoff.

import type { StoredWebhook } from '../domain/webhook.ts';
import type { Outcome } from './receiver-client.ts';

/** Maximum number of concurrent requests to one receiver. */
export const MAX_WINDOW = 32;
/** Duration below which a response counts as quick. */
const QUICK_MS = 1000;
/** Statuses with which `Retry-After` pauses the whole webhook. */
const PAUSE_CODES = [429, 503];
const GONE = 410;
/** Failed rounds before new changes are held back: for one second at first, then twice as long each time. */
const PATIENT_ROUNDS = 2;
const FIRST_HOLD_MS = 1000;
export const MAX_HOLD_MS = 5 * 60_000;
/** Consecutive failures after which a receiver counts as down, and the time after which this is an outage. */
const DOWN_AFTER_FAILURES = 3;
const OUTAGE_MS = 5000;
/** Time without a success after which a webhook is disabled. */
export const DISABLED_AFTER_MS = 5 * 24 * 3_600_000;

/** The health of one receiver. */
export class ReceiverHealth {
  /** Time of the first consecutive failure, and reason of the last one. */
  failing: StoredWebhook['failing'];
  /** Time at which the webhook was disabled. */
  disabledMs: number | null;
  /** True if `failing` or `disabledMs` has changed since it was saved. */
  isUnsaved = false;
  /** Maximum number of requests in flight. */
  window = 1;
  /** Number of consecutive failures. */
  private failures: number;
  /** Number of failed rounds. A round fails if a new change fails whose request started after the previous round. */
  private failedRounds = 0;
  private roundEndMs = Number.NEGATIVE_INFINITY;
  private heldUntilMs = Number.NEGATIVE_INFINITY;
  private pausedUntilMs = Number.NEGATIVE_INFINITY;

  constructor({ failing, disabledMs }: Pick<StoredWebhook, 'failing' | 'disabledMs'>) {
    this.failing = failing;
    this.disabledMs = disabledMs;
    this.failures = failing ? DOWN_AFTER_FAILURES : 0;
  }

  /** True after 3 consecutive failures. */
  get isDown(): boolean {
    return this.failures >= DOWN_AFTER_FAILURES;
  }

  /** True if the receiver was down for at least 5 s. Then all pending deliveries are attempted once it responds. */
  isOutage(nowMs: number): boolean {
    return this.isDown && nowMs - (this.failing?.sinceMs ?? nowMs) >= OUTAGE_MS;
  }

  /** False if the webhook is disabled, or during a pause that the receiver requested with `Retry-After`. */
  maySend(nowMs: number): boolean {
    return this.disabledMs === null && nowMs >= this.pausedUntilMs;
  }

  /** Like `maySend`, but also false while new changes are held back. */
  maySendNew(nowMs: number): boolean {
    return this.maySend(nowMs) && nowMs >= this.heldUntilMs;
  }

  /** Records a successful attempt. */
  succeed({ durationMs, isTooLong = false }: Outcome): void {
    const isQuick = durationMs < QUICK_MS && !isTooLong;
    this.window = isQuick ? Math.min(this.window + 1, MAX_WINDOW) : Math.max(1, this.window >> 1);
    this.failures = 0;
    this.failedRounds = 0;
    this.heldUntilMs = Number.NEGATIVE_INFINITY;
    if (this.failing) this.setFailing(null);
  }

  /** Records a failed attempt. `newStartedMs` is its start, if it was the first attempt for its change. */
  fail(outcome: Outcome, newStartedMs: number | undefined, nowMs: number): void {
    const { code = 0, error = '', retryAfterMs } = outcome;
    const { sinceMs = nowMs, reason } = this.failing ?? {};
    this.window = Math.max(1, this.window >> 1);
    this.failures++;
    if (code === GONE) this.disable({ sinceMs, reason: 'The receiver responded with status 410 (gone)' }, nowMs);
    else if (nowMs - sinceMs >= DISABLED_AFTER_MS)
      this.disable({ sinceMs, reason: `Every attempt failed for 5 days: ${error}` }, nowMs);
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

  /** Sets the failure, unless the webhook is disabled: then the first reason remains. */
  private setFailing(failing: StoredWebhook['failing']): void {
    if (this.disabledMs !== null) return;
    this.failing = failing;
    this.isUnsaved = true;
  }
}
