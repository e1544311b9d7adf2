// Reports bugs of repeated work, such as a loop, once and not with every try.

import { PlantStoreError } from '../domain/errors.ts';
import type { Observe } from './service-events.ts';

/** Time after which the same bug is reported again. */
const REPEAT_AFTER_MS = 60_000;
/** Number of different bugs that are reported within that time. */
const MAX_REPORTED = 10;

export type ReportBug = (error: unknown) => void;

export function createBugReport(observe: Observe): ReportBug {
  /** Time of each report by its message. */
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

/** True if the database is unreachable or busy, which is no bug. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof PlantStoreError && error.code === 'unavailable';
}
