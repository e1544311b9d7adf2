// How fast a receiver may be sent to: more at once with each quick answer, fewer with each failure, and when all fails,
// something new only now and then, to see if it is well again.

import { MAX_RETRY_AFTER_MS, type Outcome } from './receiver-client.ts';

const MAX_WINDOW = 32;
const QUICK_MS = 1000;
/** With these a receiver asks for a pause of everything, if it says how long. */
const PAUSES = [429, 503];
/** So many rounds may fail before new changes are held back, for a second first, and each time for twice as long. */
const PATIENT_ROUNDS = 2;
const FIRST_HOLD_MS = 1000;
const MAX_HOLD_MS = 5 * 60_000;
/** A receiver that has failed so often in a row is taken to be down, and after so long it is an outage. */
const DOWN_AFTER = 3;
const OUTAGE_MS = 5000;

export interface Pace {
  /** Requests that may be under way. */
  readonly window: number;
  readonly isDown: boolean;
  /** It has been down for long enough to be tried with everything when it answers again. */
  isOutage(nowMs: number): boolean;
  /** The receiver has not asked for a pause. */
  maySend(nowMs: number): boolean;
  /** Nor is this a time to leave it alone. */
  maySendNew(nowMs: number): boolean;
  succeed(durationMs: number): void;
  /** `newStartedMs` is when it was begun, if the change had not been tried before. */
  fail(outcome: Outcome, newStartedMs: number | undefined, nowMs: number): void;
  /** The clock was set to so much later, or earlier. */
  shift(byMs: number): void;
}

/** `failingSinceMs` is what is known from before. */
export function createPace(failingSinceMs: number | undefined): Pace {
  let window = 1;
  /** In a row, and since when. */
  let failures = failingSinceMs === undefined ? 0 : DOWN_AFTER;
  let sinceMs = failingSinceMs ?? Number.POSITIVE_INFINITY;
  /** A round has failed when a new change failed that was begun after the end of the round before. */
  let rounds = 0;
  let roundMs = Number.NEGATIVE_INFINITY;
  let heldUntilMs = Number.NEGATIVE_INFINITY;
  let pausedUntilMs = Number.NEGATIVE_INFINITY;

  return {
    get window() {
      return window;
    },
    get isDown() {
      return failures >= DOWN_AFTER;
    },
    isOutage: (nowMs) => failures >= DOWN_AFTER && nowMs - sinceMs >= OUTAGE_MS,
    maySend,
    maySendNew: (nowMs) => maySend(nowMs) && !isAhead(heldUntilMs, MAX_HOLD_MS, nowMs),
    succeed(durationMs) {
      window = durationMs < QUICK_MS ? Math.min(window + 1, MAX_WINDOW) : Math.max(1, window >> 1);
      failures = 0;
      rounds = 0;
      heldUntilMs = Number.NEGATIVE_INFINITY;
    },
    fail({ code = 0, retryAfterMs }, newStartedMs = Number.NEGATIVE_INFINITY, nowMs) {
      window = Math.max(1, window >> 1);
      if (failures++ === 0) sinceMs = nowMs;
      if (retryAfterMs !== undefined && PAUSES.includes(code)) {
        pausedUntilMs = Math.max(pausedUntilMs, nowMs + retryAfterMs);
      }
      if (newStartedMs === Number.NEGATIVE_INFINITY || newStartedMs < roundMs) return;
      rounds++;
      roundMs = nowMs;
      if (rounds <= PATIENT_ROUNDS) return;
      window = 1;
      heldUntilMs = nowMs + Math.min(FIRST_HOLD_MS * 2 ** (rounds - PATIENT_ROUNDS - 1), MAX_HOLD_MS);
    },
    shift(byMs) {
      sinceMs += byMs;
      roundMs += byMs;
      heldUntilMs += byMs;
      pausedUntilMs += byMs;
    },
  };

  function maySend(nowMs: number): boolean {
    return !isAhead(pausedUntilMs, MAX_RETRY_AFTER_MS, nowMs);
  }
}

/** What lies further ahead than it can have been set was set before the clock was put back. */
function isAhead(timeMs: number, atMostMs: number, nowMs: number): boolean {
  return timeMs > nowMs && timeMs - nowMs <= atMostMs;
}
