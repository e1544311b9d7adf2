// Sums of the changes per hour that the summary contains.

import type { Summary } from 'plant-store/client';

export type Hours = Summary['changes'];

export interface Counts {
  created: number;
  updated: number;
  deleted: number;
}

export type Period = '24h' | '7d' | '30d';

/** The changes of a period of time, which the chart shows as one bar. */
export interface Bar extends Counts {
  start: Date;
  end: Date;
}

export const HOUR_MS = 3_600_000;
const HOURS_OF_DAY = [0, 6, 12, 18];

/** Counts the changes from one time to another. Both are starts of hours. */
export function countBetween(hours: Hours, fromMs: number, toMs: number): Counts {
  const counts = { created: 0, updated: 0, deleted: 0 };
  for (const { hour, created, updated, deleted } of hours) {
    const timeMs = Date.parse(hour);
    if (timeMs < fromMs || timeMs >= toMs) continue;
    counts.created += created;
    counts.updated += updated;
    counts.deleted += deleted;
  }
  return counts;
}

export function totalOf({ created, updated, deleted }: Counts): number {
  return created + updated + deleted;
}

/** Returns the end of the hour in which this time is. */
export function endOfHour(timeMs: number): number {
  return (Math.floor(timeMs / HOUR_MS) + 1) * HOUR_MS;
}

/** Returns one bar per hour for 24 h, per 6 hours for 7 d, and per day for 30 d. Days are those of the user. */
export function barsOf(hours: Hours, period: Period, nowMs: number): Bar[] {
  const starts = startsOf(period, nowMs);
  return starts.slice(0, -1).map((start, at) => {
    const end = starts[at + 1] ?? start;
    return { start, end, ...countBetween(hours, start.getTime(), end.getTime()) };
  });
}

/** Returns the starts of the bars, and the end of the last one. */
function startsOf(period: Period, nowMs: number): Date[] {
  if (period === '24h') {
    const endMs = endOfHour(nowMs);
    return Array.from({ length: 25 }, (_, at) => new Date(endMs - (24 - at) * HOUR_MS));
  }
  const days = period === '7d' ? 7 : 30;
  const today = new Date(nowMs);
  const at = (day: number, hour = 0) =>
    new Date(today.getFullYear(), today.getMonth(), today.getDate() - days + 1 + day, hour);
  const starts = Array.from({ length: days }, (_, day) =>
    period === '7d' ? HOURS_OF_DAY.map((hour) => at(day, hour)) : [at(day)],
  );
  return [...starts.flat(), at(days)];
}

/** Returns the number of plants at the end of each bar that has begun, calculated back from the number now. */
export function plantsOverTime(bars: Bar[], plants: number, nowMs: number): number[] {
  const past = bars.filter(({ start }) => start.getTime() <= nowMs);
  const numbers: number[] = [];
  let atEnd = plants;
  for (const { created, deleted } of past.toReversed()) {
    numbers.push(atEnd);
    atEnd -= created - deleted;
  }
  return numbers.toReversed();
}
