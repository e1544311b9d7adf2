// The choice of an expiry, as the form keeps it and as the API expects it.

import { exactTime } from '../shared/time.tsx';

const DAY_MS = 86_400_000;
const UNIT_MS = { h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS } as const;
const MAX_MS = 100 * 365 * DAY_MS;

export type Unit = keyof typeof UNIT_MS;

export interface Expiry {
  /** `keep` leaves the expiry of an existing token as it is. */
  kind: 'keep' | 'never' | '30d' | '90d' | '365d' | 'date' | 'duration';
  /** For `date`: a day such as 2027-03-31. The token works until this day ends here. */
  date: string;
  /** For `duration`. */
  count: string;
  unit: Unit;
}

export const NEVER: Expiry = { kind: 'never', date: '', count: '', unit: 'd' };

/** Returns the value for the API: null for never, and undefined to leave it as it is. */
export function toApi(expiry: Expiry): string | null | undefined {
  const { kind, date, count, unit } = expiry;
  if (kind === 'keep') return undefined;
  if (kind === 'never') return null;
  if (kind === 'date') return endOf(date).toISOString();
  return kind === 'duration' ? `${count}${unit}` : kind;
}

/** Returns the error of an expiry, if it has one. */
export function checkExpiry({ kind, date, count, unit }: Expiry, nowMs: number): string | undefined {
  if (kind === 'date') {
    const atMs = endOf(date).getTime();
    if (Number.isNaN(atMs)) return 'Choose the last day on which it works.';
    return atMs > nowMs ? undefined : 'Choose today or a later day.';
  }
  if (kind !== 'duration') return undefined;
  const isValid = /^[1-9]\d{0,7}$/.test(count) && Number(count) * UNIT_MS[unit] <= MAX_MS;
  return isValid ? undefined : 'Enter a whole number of at least 1, and at most 100 years.';
}

/** Returns the time at which the token ends: null for never, undefined if it is not known. */
export function endsAtMs(expiry: Expiry, kept: string | undefined, nowMs: number): number | null | undefined {
  const { kind, date, count, unit } = expiry;
  if (kind === 'keep') return kept === undefined ? null : Date.parse(kept);
  if (kind === 'never') return null;
  if (checkExpiry(expiry, nowMs)) return undefined;
  if (kind === 'date') return endOf(date).getTime();
  return nowMs + (kind === 'duration' ? Number(count) * UNIT_MS[unit] : Number.parseInt(kind, 10) * DAY_MS);
}

export function expiryHelp(atMs: number | null | undefined): string {
  if (atMs === null) return 'It works until you revoke it.';
  return atMs === undefined ? '' : `It stops working on ${exactTime(new Date(atMs).toISOString())}.`;
}

function endOf(date: string): Date {
  return new Date(`${date}T23:59:59`);
}
