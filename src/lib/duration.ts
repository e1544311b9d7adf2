// Spans of time as people write them: 30s, 30m, 12h, 90d, 4w.

import { UsageError } from './user-error.ts';

const UNIT_MS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const MAX_MS = 100 * 365 * 86_400_000;

/** What it looks like, for those who wrote another thing. */
export const DURATION_FORM = 'a number and a unit (30s, 30m, 12h, 90d, 4w), 100 years at most';

/** Undefined where it is none. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,8})([smhdw])$/.exec(text) ?? [];
  const durationMs = Number(count) * (UNIT_MS[unit ?? ''] ?? Number.NaN);
  return durationMs <= MAX_MS ? durationMs : undefined;
}

/** `option` is named in the refusal. */
export function readDuration(option: string, text: string): number {
  const durationMs = parseDuration(text);
  if (durationMs !== undefined) return durationMs;
  throw new UsageError(`${option} takes ${DURATION_FORM}, not "${text}"`);
}
