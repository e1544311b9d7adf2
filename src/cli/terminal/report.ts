// Prints results on standard output: text on a terminal, JSON when piped.

import { pipeline } from 'node:stream/promises';
import { OWN_COMMAND } from '../../config/command-name.ts';
import { printJson } from '../../lib/exact-json.ts';
import { toSafeJson, toSafeText } from '../../lib/safe-text.ts';
import { UserError } from '../../lib/user-error.ts';
import type { CommandIo, Output } from '../command-io.ts';
import { type Column, toTable, widthOf } from './table.ts';
import { wrap } from './wrap.ts';

/** The options --json and --table, of which a command line has at most one. */
export interface FormOptions {
  json?: true;
  table?: true;
}

/** True if the output is JSON: with --json, or when piped without --table. */
export function wantsJson(output: Output, { json, table }: FormOptions): boolean {
  return json === true || (!output.isTTY && table !== true);
}

/** Prints the words on a terminal, and the JSON when piped. */
export function report(output: Output, words: string, json: object): void {
  output.write(toReport(output, words, json));
}

/** Returns the words for a terminal, and the JSON for a pipe. */
export function toReport(output: Output, words: string, json: object): string {
  return output.isTTY ? toLines(output, words) : jsonLine(json);
}

/**
 * Prints a text with a secret that cannot be read again. It must run before the store is closed, which can fail. If the
 * output is closed or full, it says how to get another secret: by `command`.
 */
export async function printSecret({ stdout, stderr }: CommandIo, text: string, command: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    stdout.write(text, (error) => {
      if (!error) return resolve();
      writeWords(
        stderr,
        `The new secret was not printed and is lost. Run "${OWN_COMMAND} ${command}" for another one.`,
      );
      reject(new UserError(`Cannot write to standard output: ${error.message}`));
    });
  });
}

/** Prints sentences, with control characters escaped. A terminal gets lines that end between two words. */
export function writeWords(output: Output, words: string): void {
  output.write(toLines(output, words));
}

function toLines(output: Output, words: string): string {
  const lines = words.split('\n').map(toSafeText);
  const wrapped = output.isTTY ? lines.flatMap((line) => wrap(line, widthOf(output))) : lines;
  return wrapped.map((line) => `${line}\n`).join('');
}

/** Returns a count with its noun, in the plural unless the count is 1. */
export function countOf(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** Returns a value as a line of JSON with exact ids. It is safe on a terminal, where `less` or `tail` can show it later. */
export function jsonLine(value: object): string {
  return `${toSafeJson(printJson(value))}\n`;
}

/** Prints values as JSON, one per line, or the text of all of them. */
export function printAll(output: Output, options: FormOptions, values: object[], toText: () => string): Promise<void> {
  return writeOut(output, wantsJson(output, options) ? values.map(jsonLine) : [toText()]);
}

/** Prints a whole list: as a table, or `ifEmpty` without rows; as JSON, one object per line. */
export function printRows<Row extends object>(
  output: Output,
  options: FormOptions,
  rows: Row[],
  { columns, ifEmpty }: { columns: Column<Row>[]; ifEmpty: string },
): Promise<void> {
  return printAll(output, options, rows, () => (rows.length === 0 ? `${ifEmpty}\n` : toTable(columns, rows, output)));
}

/** Writes texts as fast as they are read. If the reader ends early, as `head` does, it stops without an error. */
export async function writeOut(output: Output, texts: Iterable<string> | AsyncIterable<string>): Promise<void> {
  await pipeline(texts, output, { end: false }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
