// Times as the console shows them: relative within a day, with the exact time as title.

import { useEffect, useState } from 'preact/hooks';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const LOCALE = 'en-GB';
const exact = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'long', timeStyle: 'medium' });
const clock = new Intl.DateTimeFormat(LOCALE, { hour: '2-digit', minute: '2-digit' });
const seconds = new Intl.DateTimeFormat(LOCALE, { timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short' });
const dayOfYear = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', year: 'numeric' });

/** Shows how long ago the time was, or the time of day or date if it was long ago. */
export function Time({ at, isLong = false }: { at: string; isLong?: boolean }) {
  const nowMs = useNow();
  const time = new Date(at);
  return (
    <time dateTime={at} title={exact.format(time)}>
      {isLong ? longTime(time) : relativeTime(time, nowMs)}
    </time>
  );
}

export function exactTime(at: string): string {
  return exact.format(new Date(at));
}

export function clockTime(time: Date): string {
  return clock.format(time);
}

/** Returns "10:48:12". */
export function clockSeconds(time: Date): string {
  return seconds.format(time);
}

/** Returns "12 Nov 2026, 10:48". */
export function longTime(time: Date): string {
  return `${dayOfYear.format(time)}, ${clock.format(time)}`;
}

/** Returns "12 Nov", with the year if it is not this year. */
export function shortDate(time: Date, nowMs = Date.now()): string {
  return (time.getFullYear() === new Date(nowMs).getFullYear() ? day : dayOfYear).format(time);
}

export function relativeTime(time: Date, nowMs: number): string {
  const agoMs = nowMs - time.getTime();
  if (agoMs < -MINUTE_MS) return `in ${duration(-agoMs)}`;
  if (agoMs < MINUTE_MS) return 'just now';
  if (agoMs < DAY_MS) return `${duration(agoMs)} ago`;
  const midnight = new Date(nowMs).setHours(0, 0, 0, 0);
  if (time.getTime() >= midnight - DAY_MS) return 'Yesterday';
  return shortDate(time, nowMs);
}

/** Returns "4 min", "2 h" or "6 days". */
export function duration(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.max(1, Math.round(ms / 1000))} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  return `${Math.floor(ms / DAY_MS)} days`;
}

const ticking = new Set<(nowMs: number) => void>();
setInterval(() => {
  const nowMs = Date.now();
  for (const tick of ticking) tick(nowMs);
}, 15_000);

/** Returns the current time, and renders again every 15 seconds. */
export function useNow(): number {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    ticking.add(setNowMs);
    return () => void ticking.delete(setNowMs);
  }, []);
  return Math.max(nowMs, Date.now());
}
