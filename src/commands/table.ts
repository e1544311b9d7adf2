// Rows of text in columns, for a terminal.

export function toTable(headings: string[], rows: string[][]): string {
  const widths = headings.map((heading, at) => Math.max(heading.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const print = (row: string[]) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ');
  return [headings, ...rows].map((row) => `${print(row).trimEnd()}\n`).join('');
}

/** To the minute. `none` stands for a time that is not there. */
export function shortTime(time: string | null | undefined, none: string): string {
  return time ? `${time.slice(0, 16).replace('T', ' ')}Z` : none;
}

export function timeToSecond(time: string | undefined): string {
  return time ? `${time.slice(0, 19).replace('T', ' ')}Z` : '-';
}
