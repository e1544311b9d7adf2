// Spans of time as people write them: 30m, 12h, 90d, 4w.

import { Refusal } from './refusal.ts';

const UNIT_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const MAX_MS = 100 * 365 * 86_400_000;

/** `option` is named in the refusal. */
export function readDuration(option: string, text: string): number {
  const [, count, unit] = /^([1-9]\d{0,8})([mhdw])$/.exec(text) ?? [];
  const durationMs = Number(count) * (UNIT_MS[unit ?? ''] ?? Number.NaN);
  if (durationMs <= MAX_MS) return durationMs;
  throw new Refusal(`${option} takes a number and a unit (30m, 12h, 90d, 4w), not "${text}"`, 2);
}
