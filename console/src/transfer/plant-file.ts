// Turns records into a file that can be imported again without a difference, and saves files.

import type { FileType, NewPlant } from 'plant-store/client';

const CSV_HEADER = 'id,name,tag\n';
const ENDINGS: Record<FileType, string> = { 'text/csv': 'csv', 'application/x-ndjson': 'ndjson' };
/** How long the browser may take to start saving a file. */
const SAVING_MS = 60_000;

/** Matches texts that must be quoted: with a separator, or with blanks at an end, or empty. */
const QUOTED = /[",\n\r]|^\s|\s$|^$/;

/** Returns a file of the records, as the server exports them. */
export function toFile(records: Iterable<NewPlant>, type: FileType): Blob {
  return new Blob([headerOf(type), ...printRecords(records, type)], { type });
}

/** Returns the text before the first record. */
export function headerOf(type: FileType): string {
  return type === 'text/csv' ? CSV_HEADER : '';
}

/** Returns one line for each record. */
export function printRecords(records: Iterable<NewPlant>, type: FileType): string[] {
  return Array.from(records, type === 'text/csv' ? toCsv : toJson);
}

/** Saves a file in the browser's downloads. */
export function download(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), SAVING_MS);
}

/** Returns a file name such as `plants-2026-11-16.csv`. */
export function fileName(type: FileType, what = 'plants'): string {
  return `${what}-${new Date().toISOString().slice(0, 10)}.${ENDINGS[type]}`;
}

/** A missing tag is an empty cell without quotation marks. */
function toCsv({ id, name, tag }: NewPlant): string {
  return `${id},${toCell(name)},${tag === undefined ? '' : toCell(tag)}\n`;
}

/** Returns a text as a cell of a CSV file. */
export function toCell(text: string): string {
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function toJson({ id, name, tag }: NewPlant): string {
  const rest = JSON.stringify({ name, tag }).slice(1);
  return `{"id":${id},${rest}\n`;
}
