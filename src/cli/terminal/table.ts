// Formats rows in columns that fit the width of a terminal. Headings, empty cells and statuses look the same in every table.

import { styleText } from 'node:util';
import { cutToWidth, displayWidth, padToWidth, toSafeText } from '../../lib/safe-text.ts';
import type { Output } from '../command-io.ts';

const GAP = '  ';
/** Width of tables in a pipe, and on a terminal that does not report its width. */
const DEFAULT_WIDTH = 80;

export type Colour = 'dim' | 'green' | 'yellow' | 'red';

const STATUS_COLOURS = new Map<string, Colour>([
  ['active', 'green'],
  ['delivered', 'green'],
  ['waiting', 'yellow'],
  ['failing', 'red'],
  ['dead', 'red'],
  ['disabled', 'dim'],
  ['expired', 'dim'],
  ['revoked', 'dim'],
]);

/** Text of a cell. Undefined is an empty cell. */
type Cell<Row> = (row: Row) => string | undefined;

export interface Column<Row> {
  heading: string;
  cell: Cell<Row>;
  /** A shorter form of the cell, for a terminal that is too narrow for the usual one. */
  short?: Cell<Row>;
  /**
   * Width to which longer cells can be cut, to have room for more columns. On a terminal that is too narrow for the other
   * columns, they are cut further. Cells of a column without it, such as ids, are never cut.
   */
  minWidth?: number;
  /** Order in which columns are added while they fit. Columns without it are always shown. */
  ifRoom?: number;
  /** True for counts and durations, which are aligned to the right. */
  isQuantity?: boolean;
  colour?: (row: Row) => Colour | undefined;
}

/** A column with the widths that its cells need in both forms. */
interface MeasuredColumn<Row> extends Column<Row> {
  fullWidth: number;
  shortWidth: number;
}

/** A column as it is printed. */
interface FittedColumn<Row> extends Column<Row> {
  /** Width of its longest cell. */
  wanted: number;
  width: number;
}

/** Returns the width of a terminal, or that of tables in a pipe. */
export function widthOf({ columns }: Output): number {
  return columns || DEFAULT_WIDTH;
}

/** Returns all rows as a table with headings. */
export function toTable<Row>(columns: Column<Row>[], rows: Row[], stream: Output): string {
  return createTable(columns, stream)(rows);
}

/** Returns a function that formats one page of rows. Columns can widen from page to page. The first page has the headings. */
export function createTable<Row>(columns: Column<Row>[], stream: Output): (rows: Row[]) => string {
  const measured = columns.map((column) => {
    const width = displayWidth(column.heading);
    return { ...column, fullWidth: width, shortWidth: width };
  });
  let isFirst = true;
  return (rows) => {
    for (const column of measured) widen(column, rows);
    const fitted = fit(measured, widthOf(stream));
    const heading = isFirst ? [toLine(fitted, stream, ({ heading }) => [heading, 'dim'])] : [];
    const lines = rows.map((row) => toLine(fitted, stream, (column) => toCell(column, row)));
    isFirst = false;
    return [...heading, ...lines].join('');
  };
}

/** Returns labels with their values, one per line, which are never cut. Labels without a value are left out. */
export function toFields(fields: [label: string, value: string | undefined][], stream: Output): string {
  const shown = fields.filter(([, value]) => value !== undefined);
  const width = Math.max(...shown.map(([label]) => displayWidth(label)));
  const dim = (label: string) => styleText('dim', padToWidth(width, label), { stream });
  return shown.map(([label, value]) => `${dim(label)}${GAP}${toText(value)}\n`).join('');
}

export function colourOfStatus({ status }: { status: string }): Colour | undefined {
  return STATUS_COLOURS.get(status);
}

/** Returns a text that is safe on a terminal: `""` if it is empty, and `-` if it is missing. */
export function toText(text: string | undefined): string {
  if (text === undefined) return '-';
  return text === '' ? '""' : toSafeText(String(text)); // another kind of server can send any type
}

function widen<Row>(column: MeasuredColumn<Row>, rows: Row[]): void {
  for (const row of rows) {
    const width = displayWidth(toText(column.cell(row)));
    column.fullWidth = Math.max(column.fullWidth, width);
    column.shortWidth = Math.max(column.shortWidth, column.short ? displayWidth(toText(column.short(row))) : width);
  }
}

/** Chooses the form, the columns and their widths: short forms if all columns do not fit, then as many columns as fit. */
function fit<Row>(columns: MeasuredColumn<Row>[], width: number): FittedColumn<Row>[] {
  let all = columns.map((column) => toFitted(column, column.cell, column.fullWidth));
  if (widthOfLine(all) > width) {
    all = columns.map((column) => toFitted(column, column.short ?? column.cell, column.shortWidth));
  }
  let fitted = all.filter(({ ifRoom }) => ifRoom === undefined);
  for (const next of all.toSorted((a, b) => (a.ifRoom ?? 0) - (b.ifRoom ?? 0))) {
    const more = all.filter((column) => column === next || fitted.includes(column));
    if (widthOfLine(more) <= width) fitted = more;
  }
  if (widthOfLine(fitted) > width) {
    for (const column of fitted) column.width = column.minWidth === undefined ? column.width : 1;
  }
  share(fitted, width - widthOfLine(fitted));
  return fitted;
}

function toFitted<Row>(column: Column<Row>, cell: Cell<Row>, wanted: number): FittedColumn<Row> {
  return { ...column, cell, wanted, width: Math.min(wanted, column.minWidth ?? wanted) };
}

function widthOfLine(columns: { width: number }[]): number {
  return columns.reduce((sum, { width }) => sum + width + GAP.length, -GAP.length);
}

/** Gives each column an equal part of the room that is left. Columns that need less leave it to the others. */
function share<Row>(columns: FittedColumn<Row>[], room: number): void {
  let left = Math.max(0, room);
  const growing = columns.toSorted((a, b) => a.wanted - a.width - (b.wanted - b.width));
  for (const [at, column] of growing.entries()) {
    const more = Math.min(column.wanted - column.width, Math.floor(left / (growing.length - at)));
    column.width += more;
    left -= more;
  }
}

function toCell<Row>({ cell, colour }: Column<Row>, row: Row): [text: string, colour: Colour | undefined] {
  const value = cell(row);
  return [toText(value), value === undefined ? 'dim' : colour?.(row)];
}

function toLine<Row>(
  columns: FittedColumn<Row>[],
  stream: Output,
  cellOf: (column: FittedColumn<Row>) => [text: string, colour: Colour | undefined],
): string {
  const cells = columns.map((column, at) => {
    const [text, colour] = cellOf(column);
    const cut = cutToWidth(column.width, text);
    const shown = colour === undefined ? cut : styleText(colour, cut, { stream });
    const padding = ' '.repeat(Math.max(0, column.width - displayWidth(cut)));
    if (column.isQuantity) return padding + shown;
    return at === columns.length - 1 ? shown : shown + padding;
  });
  return `${cells.join(GAP)}\n`;
}
