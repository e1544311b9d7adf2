// Splits a CSV record into its cells, as the server does. Also runs in browsers.

import { QUOTE } from './csv-record-end.ts';

export interface Cell {
  text: string;
  /** The cell as it stands in the file, with its quotation marks. */
  raw: string;
}

/** Returns the cells. A quotation mark counts only at the start of a cell. In a quoted cell, two of them stand for one. */
export function splitCells(record: string, delimiter = ','): Cell[] {
  const cells: Cell[] = [];
  for (let at = 0; at <= record.length; ) {
    const end = endOfCell(record, at, delimiter);
    const raw = record.slice(at, end);
    const isQuoted = raw.length > 1 && raw.startsWith('"') && raw.endsWith('"');
    cells.push({ raw, text: isQuoted ? raw.slice(1, -1).replaceAll('""', '"') : raw });
    at = end + 1;
  }
  return cells;
}

/** Returns the position of the delimiter after the cell at `start`, or the end of the record. */
export function endOfCell(record: string, start: number, delimiter: string): number {
  let at = start;
  if (record.charCodeAt(at) === QUOTE) {
    at++;
    while (at < record.length && (record.charCodeAt(at) !== QUOTE || record.charCodeAt(++at) === QUOTE)) at++;
  }
  const end = record.indexOf(delimiter, at);
  return end === -1 ? record.length : end;
}
