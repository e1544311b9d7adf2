// Formats times of the API for a terminal, in UTC.

import { cutToWidth, toSafeText } from '../../lib/safe-text.ts';

/** Returns a time to the second: `2026-01-31 12:00:00Z`. */
export function timeToSecond<Time extends string | undefined>(time: Time): string | Time {
  return time === undefined ? time : print(time, '2026-01-31 12:00:00'.length, 'Z');
}

/** Returns a time to the minute: `2026-01-31 12:00Z`. */
export function timeToMinute<Time extends string | undefined>(time: Time): string | Time {
  return time === undefined ? time : print(time, '2026-01-31 12:00'.length, 'Z');
}

/** Returns the day of a time: `2026-01-31`. */
export function dayOf<Time extends string | undefined>(time: Time): string | Time {
  return time === undefined ? time : print(time, '2026-01-31'.length, '');
}

/** Returns the first characters of a time. The value can have any type, because another kind of server can send it. */
function print(time: unknown, length: number, end: string): string {
  const text = `${String(time).slice(0, length).replace('T', ' ')}${end}`;
  return cutToWidth(length + end.length, toSafeText(text));
}
