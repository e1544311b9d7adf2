// Reports bugs in repeated work, such as a loop, once instead of on every attempt.

import { PlantStoreError } from '../domain/errors.ts';
import type { Observe } from './service-events.ts';

/** Time after which the same bug is reported again. */
const REPEAT_AFTER_MS = 60_000;
/** Maximum number of different bugs that are reported within that time. */
const MAX_REPORTED = 10;

/** Reports a bug unless it was reported recently. */
export type ReportBug = (error: unknown) => void;

/** Returns a function that reports bugs as events. */
export function createBugReport(observe: Observe): ReportBug {
  /** Time of each report, by error message. */
  const reportedMs = new Map<string, number>();

  return (error) => {
    const nowMs = performance.now();
    for (const [message, atMs] of reportedMs) if (nowMs - atMs >= REPEAT_AFTER_MS) reportedMs.delete(message);
    const message = String(error);
    if (reportedMs.has(message) || reportedMs.size >= MAX_REPORTED) return;
    reportedMs.set(message, nowMs);
    observe({ kind: 'bug', error });
  };
}

/** True if the database is unreachable or busy, which is not a bug. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof PlantStoreError && error.code === 'unavailable';
}
