// Formats rows of text in columns, for a terminal.

import { displayWidth, padToWidth, toSafeText } from '../../lib/safe-text.ts';

export function toTable(headings: string[], rows: string[][]): string {
  const cells = [headings, ...rows].map((row) => row.map(toSafeText));
  const widths = headings.map((_heading, at) => Math.max(...cells.map((row) => displayWidth(row[at] ?? ''))));
  const print = (row: string[]) => row.map((cell, at) => padToWidth(widths[at] ?? 0, cell)).join('  ');
  return cells.map((row) => `${print(row).trimEnd()}\n`).join('');
}

/** Returns a time to the minute, or `none` if the time is missing. */
export function shortTime(time: string | null | undefined, none: string): string {
  return time ? cutTime(time, 16) : none;
}

export function timeToSecond(time: string | undefined): string {
  return time ? cutTime(time, 19) : '-';
}

/** Returns the first characters of a time. The value can have any type, because another kind of server can send it. */
function cutTime(time: unknown, length: number): string {
  return toSafeText(`${String(time).slice(0, length).replace('T', ' ')}Z`);
}
