// What a command says when it is done: words on a terminal, JSON when piped.

import { printJson } from '../../lib/exact-json.ts';
import { toSafeJson, toSafeLines } from '../../lib/safe-text.ts';

export function wantsJson({ json }: { json?: boolean }): boolean {
  return json === true || !process.stdout.isTTY;
}

export function report(words: string, json: object): void {
  process.stdout.write(`${process.stdout.isTTY ? toSafeLines(words) : JSON.stringify(json)}\n`);
}

/** With exact ids. */
export function jsonLine(value: object): string {
  const json = printJson(value);
  return `${process.stdout.isTTY ? toSafeJson(json) : json}\n`;
}

/** An array with an object a line, and with exact ids. */
export function printList(rows: object[]): void {
  const lines = rows.map((row) => `  ${jsonLine(row).trimEnd()}`);
  process.stdout.write(rows.length === 0 ? '[]\n' : `[\n${lines.join(',\n')}\n]\n`);
}
