// Bugs in work that repeats by itself, such as a loop: each is reported when it starts, and not with every try.

import { PlantStoreError } from '../domain/errors.ts';
import type { Observe } from './service-events.ts';

/** After this the same bug is reported again, if it is still there. */
const AGAIN_MS = 60_000;
/** Different bugs that are reported within that time. */
const MAX_REPORTED = 10;

export type ReportBug = (error: unknown) => void;

export function createBugReport(observe: Observe): ReportBug {
  /** When each was reported, by its words. */
  const reportedMs = new Map<string, number>();

  return (error) => {
    const nowMs = performance.now();
    for (const [words, atMs] of reportedMs) if (nowMs - atMs >= AGAIN_MS) reportedMs.delete(words);
    const words = String(error);
    if (reportedMs.has(words) || reportedMs.size >= MAX_REPORTED) return;
    reportedMs.set(words, nowMs);
    observe({ kind: 'bug', error });
  };
}

/** True if the database is out of reach or busy, which passes: no bug. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof PlantStoreError && error.code === 'unavailable';
}
