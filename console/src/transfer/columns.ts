// Which column of a CSV file becomes which field of a plant. The server knows columns by their names only, so another
// choice means another header row.

import { PLANT_FIELDS } from '../../../src/domain/names.ts';
import { splitCells } from '../../../src/files/csv-cells.ts';
import type { FileHead } from './file-records.ts';

export type FieldName = (typeof PLANT_FIELDS)[number];

/** The field of each column. A column without a field is not imported. */
export type Columns = (FieldName | undefined)[];

export function columnNames({ header }: FileHead): string[] {
  return header ? splitCells(header.text).map(({ text }) => text.trim()) : [];
}

/** Returns the fields that the names of the columns say. */
export function columnsOf(head: FileHead): Columns {
  const names = columnNames(head).map((name) => name.toLowerCase());
  return names.map((name, at) => PLANT_FIELDS.find((field) => field === name && names.indexOf(name) === at));
}

/** Returns the file with a header row that names these columns. Line numbers stay the same. */
export function withColumns(file: Blob, head: FileHead, columns: Columns): Blob {
  const { header } = head;
  if (!header || columnsOf(head).every((field, at) => field === columns[at])) return file;
  const [first, ...others] = columns.map((field, at) => field ?? `unused ${at + 1}`);
  const row = [`"${first}${'\n'.repeat(header.lines - 1)}"`, ...others].join(',');
  return new Blob([row, file.slice(header.end)], { type: file.type });
}
