// The format of times in the API.

import { z } from 'zod';

export const Time = z.string().meta({
  format: 'date-time',
  description: 'A time (RFC 3339, UTC, with milliseconds)',
  examples: ['2026-11-17T09:30:00.000Z'],
});

const RFC_3339 = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;
export const FIRST_TIME_MS = Date.parse('0000-01-01T00:00:00.000Z');
export const LAST_TIME_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** True if the text is an RFC 3339 time on an existing day. */
export function isTime(text: string): boolean {
  const [, day = ''] = RFC_3339.exec(text) ?? [];
  const midnight = new Date(`${day}T00:00:00Z`);
  const isDay = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
  return isDay && Date.parse(text) <= LAST_TIME_MS;
}
