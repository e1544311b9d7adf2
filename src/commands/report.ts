// What a command says when it is done: words on a terminal, JSON when piped.

import { printJson } from '../json.ts';
import { visible } from './visible.ts';

/** JSON lets them stand in a string as they are; on a terminal they could do anything. */
const NOT_FOR_TERMINALS = /[\x7f-\x9f\p{Cf}\u2028\u2029]/gu;

export function wantsJson({ json }: { json?: boolean }): boolean {
  return json === true || !process.stdout.isTTY;
}

export function report(words: string, json: object): void {
  const lines = words.split('\n').map(visible);
  process.stdout.write(process.stdout.isTTY ? `${lines.join('\n')}\n` : `${JSON.stringify(json)}\n`);
}

/** With exact ids. */
export function jsonLine(value: object): string {
  const json = printJson(value);
  return `${process.stdout.isTTY ? json.replace(NOT_FOR_TERMINALS, toEscapes) : json}\n`;
}

/** An array with an object a line, and with exact ids. */
export function printList(rows: object[]): void {
  const lines = rows.map((row) => `  ${jsonLine(row).trimEnd()}`);
  process.stdout.write(rows.length === 0 ? '[]\n' : `[\n${lines.join(',\n')}\n]\n`);
}

function toEscapes(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
