// Results on standard output: words on a terminal, JSON when piped.

import { pipeline } from 'node:stream/promises';
import { printJson } from '../../lib/exact-json.ts';
import { toSafeJson, toSafeLines } from '../../lib/safe-text.ts';
import type { Output } from '../command-io.ts';

export function wantsJson(output: Output, { json }: { json?: boolean }): boolean {
  return json === true || !output.isTTY;
}

export function report(output: Output, words: string, json: object): void {
  output.write(`${output.isTTY ? toSafeLines(words) : JSON.stringify(json)}\n`);
}

/** Returns a value as a line of JSON with exact ids. */
export function jsonLine(output: Output, value: object): string {
  const json = printJson(value);
  return `${output.isTTY ? toSafeJson(json) : json}\n`;
}

/** Prints an array with an object a line, with exact ids. */
export function printList(output: Output, rows: object[]): void {
  const lines = rows.map((row) => `  ${jsonLine(output, row).trimEnd()}`);
  output.write(rows.length === 0 ? '[]\n' : `[\n${lines.join(',\n')}\n]\n`);
}

/** Writes texts as fast as they are read. A reader that goes away, such as `head`, is no error: the rest is not made. */
export async function writeOut(output: Output, texts: Iterable<string> | AsyncIterable<string>): Promise<void> {
  await pipeline(texts, output, { end: false }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
