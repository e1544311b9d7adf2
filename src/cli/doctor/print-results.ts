// Prints the results of checks for a terminal: a mark, the check, what was found and, indented, what to do.

import { styleText } from 'node:util';
import { padToWidth, toSafeText } from '../../lib/safe-text.ts';
import type { Output } from '../command-io.ts';
import { countOf } from '../terminal/report.ts';
import { widthOf } from '../terminal/table.ts';
import { wrap } from '../terminal/wrap.ts';
import type { CheckResult, Status } from './finding.ts';

const MAX_WIDTH = 100;
/** On a narrower terminal, the check has a line of its own. */
const MIN_WIDTH_FOR_COLUMNS = 60;
/** Width of the longest check. */
const LABEL_WIDTH = 'replication'.length;
const MARKS: Record<Status, ['green' | 'yellow' | 'red' | 'dim', string]> = {
  ok: ['green', '✓'],
  warning: ['yellow', '!'],
  problem: ['red', '✗'],
  skipped: ['dim', '-'],
};

/** Returns a result in lines that fit the terminal. A word that is longer, such as a path, stays whole. */
export function printResult({ check, status, found, advice = '' }: CheckResult, stream: Output): string {
  const width = Math.min(widthOf(stream), MAX_WIDTH);
  const isNarrow = width < MIN_WIDTH_FOR_COLUMNS;
  const indent = ' '.repeat(isNarrow ? 2 : LABEL_WIDTH + 4);
  const linesOf = (text: string) => wrap(toSafeText(text), width - indent.length);
  const [colour, mark] = MARKS[status];
  const label = isNarrow ? `${check}\n${indent}` : `${padToWidth(LABEL_WIDTH, check)}  `;
  const [first = '', ...more] = linesOf(status === 'ok' ? found : `${status}: ${found}`);
  const styled = status === 'ok' ? first : first.replace(status, styleText(colour, status, { stream }));
  const rest = advice === '' ? more : [...more, ...linesOf(advice)];
  const start = `${styleText(colour, mark, { stream })} ${label}`;
  return `${start}${styled}\n${rest.map((line) => `${indent}${line}\n`).join('')}`;
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
