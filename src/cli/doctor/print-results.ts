// Prints the results of checks for a terminal: a mark, the check, what was found and, indented, what to do.

import { styleText } from 'node:util';
import { Help } from 'commander';
import { padToWidth, toSafeText } from '../../lib/safe-text.ts';
import type { Output } from '../command-io.ts';
import { countOf } from '../terminal/report.ts';
import { widthOf } from '../terminal/table.ts';
import type { CheckResult, Status } from './finding.ts';

const MAX_WIDTH = 100;
/** Width of the longest check. */
const LABEL_WIDTH = 'replication'.length;
const INDENT = ' '.repeat(LABEL_WIDTH + 4);
const MARKS: Record<Status, ['green' | 'yellow' | 'red' | 'dim', string]> = {
  ok: ['green', '✓'],
  warning: ['yellow', '!'],
  problem: ['red', '✗'],
  skipped: ['dim', '-'],
};

/** Returns a result in lines that fit the terminal. A word that is longer, such as a path, stays whole. */
export function printResult({ check, status, found, advice }: CheckResult, stream: Output): string {
  const width = Math.min(widthOf(stream), MAX_WIDTH) - INDENT.length;
  const [colour, mark] = MARKS[status];
  const [first = '', ...more] = wrap(status === 'ok' ? found : `${status}: ${found}`, width);
  const start = `${styleText(colour, mark, { stream })} ${padToWidth(LABEL_WIDTH, check)}  `;
  const styled = status === 'ok' ? first : first.replace(status, styleText(colour, status, { stream }));
  const rest = [...more, ...(advice === undefined ? [] : wrap(advice, width))];
  return `${start}${styled}\n${rest.map((line) => `${INDENT}${line}\n`).join('')}`;
}

/** Returns the sum of all results: "No problems." or "1 problem, 2 warnings." */
export function summarize(statuses: Status[]): string {
  const [problems, warnings] = (['problem', 'warning'] as const).map(
    (status) => statuses.filter((one) => one === status).length,
  ) as [number, number];
  const counted = [
    problems === 0 ? 'No problems' : countOf(problems, 'problem'),
    ...(warnings === 0 ? [] : [countOf(warnings, 'warning')]),
  ];
  return `${counted.join(', ')}.`;
}

function wrap(text: string, width: number): string[] {
  return new Help().boxWrap(toSafeText(text), width).split('\n');
}
