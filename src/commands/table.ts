// Rows of text in columns, for a terminal.

import { padTo, visible, widthOf } from './visible.ts';

export function toTable(headings: string[], rows: string[][]): string {
  const cells = [headings, ...rows].map((row) => row.map(visible));
  const widths = headings.map((_heading, at) => Math.max(...cells.map((row) => widthOf(row[at] ?? ''))));
  const print = (row: string[]) => row.map((cell, at) => padTo(widths[at] ?? 0, cell)).join('  ');
  return cells.map((row) => `${print(row).trimEnd()}\n`).join('');
}

/** To the minute. `none` stands for a time that is not there. */
export function shortTime(time: string | null | undefined, none: string): string {
  return time ? `${time.slice(0, 16).replace('T', ' ')}Z` : none;
}

export function timeToSecond(time: string | undefined): string {
  return time ? `${time.slice(0, 19).replace('T', ' ')}Z` : '-';
}
