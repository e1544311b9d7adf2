// Groups changes by the day of the user.

import type { Change } from 'plant-store/client';

export interface Day {
  /** "Today", "Yesterday", "Thursday", or a date. */
  title: string;
  /** The date after a title that is not a date. */
  date: string;
  changes: Change[];
}

const DAY_MS = 24 * 3_600_000;
const LOCALE = 'en-GB';
const weekday = new Intl.DateTimeFormat(LOCALE, { weekday: 'long' });
const dayOfMonth = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'long' });
const dayOfYear = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'long', year: 'numeric' });

export function daysOf(changes: Change[], nowMs: number): Day[] {
  const days: Day[] = [];
  let last = '';
  for (const change of changes) {
    const time = new Date(change.time);
    const key = time.toDateString();
    if (key !== last) days.push({ ...titleOf(time, nowMs), changes: [] });
    last = key;
    days.at(-1)?.changes.push(change);
  }
  return days;
}

function titleOf(time: Date, nowMs: number): Pick<Day, 'title' | 'date'> {
  const midnightMs = new Date(nowMs).setHours(0, 0, 0, 0);
  const daysAgo = Math.round((midnightMs - new Date(time).setHours(0, 0, 0, 0)) / DAY_MS);
  const isThisYear = time.getFullYear() === new Date(nowMs).getFullYear();
  const date = (isThisYear ? dayOfMonth : dayOfYear).format(time);
  if (daysAgo <= 0) return { title: 'Today', date };
  if (daysAgo === 1) return { title: 'Yesterday', date };
  return { title: weekday.format(time), date };
}
