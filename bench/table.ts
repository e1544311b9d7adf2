// Prints a comparison for a terminal of 126 columns.

import { describeMachine } from './machine.ts';
import type { Comparison, Result, Target } from './results.ts';

const COLUMNS: [head: string, width: number, cell: (result: Result) => string][] = [
  ['', -27, ({ name, version }) => `${name} ${version}`],
  [
    'requests/s (min–max)',
    23,
    ({ perSecond: { median, min, max } }) => `${count(median)} (${count(min)}–${count(max)})`,
  ],
  ['p50 ms', 7, ({ p50Ms }) => ms(p50Ms)],
  ['p99 ms', 7, ({ p99Ms }) => ms(p99Ms)],
  ['CPU µs/req', 13, ({ serverUs, databaseUs }) => sum(serverUs, databaseUs)],
  ['peak MiB', 10, ({ serverMib, databaseMib }) => sum(serverMib, databaseMib)],
  ['rate÷echo', 10, ({ rateOfFloor }) => decimals(rateOfFloor)],
  ['CPU÷echo', 9, ({ cpuOfFloor }) => decimals(cpuOfFloor)],
  ['CPU÷ours', 9, ({ cpuOfOurs }) => decimals(cpuOfOurs)],
  ['survives', 11, ({ survives }) => survives],
];

export function printComparison({ date, machine, load, creates, reads, targets, notMeasured }: Comparison): void {
  console.log(`${describeMachine(machine)}, ${date}`);
  console.log(
    `${load.by}, ${load.connections} connections, ${load.rounds} rounds of ${load.seconds} s in turns, medians.` +
      ' CPU and MiB: server + database server.\n' +
      'survives: the worst event after which a plant with a 2xx response is still there. crash: of the process.\n',
  );
  printRows('Creates', creates);
  if (reads.length > 0) printRows('Reads by id', reads);
  printTargets(targets);
  console.log('Guarantee of a 2xx response to a create, and setup of the server');
  for (const { name, version, database, promise, setup } of creates) {
    const lines = [promise, setup, ...(database === undefined ? [] : [database])];
    console.log(lines.map((line, n) => `  ${(n === 0 ? `${name} ${version}` : '').padEnd(28)} ${line}`).join('\n'));
  }
  for (const { name, reason } of notMeasured) console.log(`  ${name.padEnd(28)} not measured: ${reason}`);
  const kept = creates.filter(({ stored }) => stored);
  const total = (key: 'answered' | 'stored') => count(kept.reduce((sum, result) => sum + (result[key] ?? 0), 0));
  console.log(`\nCounted: ${total('answered')} plants acknowledged with 2xx, ${total('stored')} stored.`);
}

function printRows(title: string, rows: Result[]): void {
  console.log(COLUMNS.map(([head, width]) => pad(head || title, width)).join(''));
  for (const row of rows) console.log(COLUMNS.map(([, width, cell]) => pad(cell(row), width)).join(''));
  console.log('');
}

function printTargets(targets: Target[]): void {
  if (targets.length === 0) return;
  console.log('Targets of plant-store');
  for (const { name, value, atLeast, atMost, isMet } of targets) {
    const limit = atLeast === undefined ? `at most ${decimals(atMost)}` : `at least ${decimals(atLeast)}`;
    const verdict = { true: 'met', false: 'missed', undefined: 'not measured' }[`${isMet}`];
    console.log(`  ${name.padEnd(28)}${decimals(value).padStart(8)}  ${limit.padEnd(16)} ${verdict}`);
  }
  console.log('');
}

function pad(text: string, width: number): string {
  return width < 0 ? text.padEnd(-width) : text.padStart(width);
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function ms(value: number): string {
  return value.toFixed(value < 1000 ? 2 : 0);
}

function decimals(value: number | undefined): string {
  return value === undefined ? '–' : value.toFixed(2);
}

function sum(own: number | undefined, database: number | undefined): string {
  if (own === undefined) return '–';
  return database === undefined ? own.toFixed(0) : `${own.toFixed(0)} + ${database.toFixed(0)}`;
}
