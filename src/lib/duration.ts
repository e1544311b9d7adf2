// Parses and prints durations such as 30s, 30m, 12h, 90d and 4w.

import { UsageError } from './user-error.ts';

const UNIT_MS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const MAX_MS = 100 * 365 * 86_400_000;

/** Pattern of a duration, for the description. The limit of 100 years is not in it. */
export const DURATION_PATTERN = '[1-9][0-9]{0,8}[smhdw]';
const VALID = new RegExp(`^${DURATION_PATTERN}$`);

/** Description of a valid duration, for error messages. */
export const DURATION_FORM = 'a number and a unit (30s, 30m, 12h, 90d, 4w), at most 100 years';

/** Returns the duration in milliseconds, or undefined if the text is not a duration. */
export function parseDuration(text: string): number | undefined {
  if (!VALID.test(text)) return undefined;
  const durationMs = Number(text.slice(0, -1)) * (UNIT_MS[text.slice(-1)] as number);
  return durationMs <= MAX_MS ? durationMs : undefined;
}

/** Returns the duration in milliseconds. Throws a UsageError that names `option`. */
export function readDuration(option: string, text: string): number {
  const durationMs = parseDuration(text);
  if (durationMs !== undefined) return durationMs;
  throw new UsageError(`${option} must be ${DURATION_FORM}, not "${text}"`);
}

/** Returns a duration in its largest fitting unit up to days, such as 45s, 35m, 12h or 90d. */
export function printDuration(durationMs: number): string {
  const unit = (['d', 'h', 'm'] as const).find((name) => durationMs >= 2 * (UNIT_MS[name] ?? 0)) ?? 's';
  return `${Math.max(0, Math.floor(durationMs / (UNIT_MS[unit] ?? 1)))}${unit}`;
}
