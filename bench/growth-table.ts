// The results of `growth` as a table: a column for each store, the ratio of the last to the first, and whether it meets
// the target.

import type { Creates, Order } from './growth-creates.ts';
import type { Latency } from './growth-reads.ts';
import type { Transfer } from './growth-transfer.ts';
import { describeMachine, type Machine } from './machine.ts';

export interface StoreGrowth {
  /** Number of records before the creates. */
  records: number;
  import: Transfer;
  httpImport: Transfer;
  /** Time after the import until the order by name was complete. */
  nameOrderS: number;
  httpExport: Transfer;
  reads: Record<string, Latency>;
  /** Undefined if wrk is not installed. */
  creates?: Record<Order, Creates>;
  /** Memory and file size after all measurements. */
  rssMib: number;
  recordsInTheEnd: number;
  fileMib: number;
}

export interface Growth {
  date: string;
  machine: Machine;
  stores: StoreGrowth[];
}

interface Row {
  name: string;
  unit: string;
  values: number[];
  target?: Target;
}

interface Target {
  text: string;
  isReached(first: number, last: number): boolean;
}

const AT_LEAST: Target = { text: '≥ 0.90', isReached: (first, last) => last >= 0.9 * first };
const AT_MOST: Target = { text: '≤ 2.00', isReached: (first, last) => last <= 2 * first };
const FLAT: Target = { text: '< 256 MiB', isReached: (_first, last) => last < 256 };

export function toTable({ date, machine, stores }: Growth): string {
  const heads = stores.map(({ records }) => records.toLocaleString('en').padStart(14));
  const lines = rowsOf(stores).map(({ name, unit, values, target }) => {
    const [first = Number.NaN, last = Number.NaN] = [values[0], values.at(-1)];
    const shown = values.map((value) => `${toText(value)} ${unit}`.padStart(14)).join('');
    const verdict = target ? `   ${target.text.padEnd(9)} ${target.isReached(first, last) ? 'met' : 'MISSED'}` : '';
    return `${name.padEnd(34)}${shown}${(last / first).toFixed(2).padStart(8)}${verdict}`;
  });
  return [
    `Growth on SQLite: ${describeMachine(machine)}, ${date}\n`,
    `${'records'.padEnd(34)}${heads.join('')}${'ratio'.padStart(8)}   target`,
    ...lines,
  ].join('\n');
}

function rowsOf(stores: StoreGrowth[]): Row[] {
  const row = (name: string, unit: string, valueIn: (store: StoreGrowth) => number, target?: Target): Row => ({
    name,
    unit,
    values: stores.map(valueIn),
    ...(target && { target }),
  });
  return [
    row('plant-store import', '/s', (store) => store.import.perSecond),
    row('  its peak memory', 'MiB', (store) => store.import.peakMib, FLAT),
    row('import over HTTP', '/s', ({ httpImport }) => httpImport.perSecond),
    row("  the server's peak memory", 'MiB', ({ httpImport }) => httpImport.peakMib, FLAT),
    row('order by name after the import', 's', ({ nameOrderS }) => nameOrderS),
    row('export over HTTP', '/s', ({ httpExport }) => httpExport.perSecond),
    row("  the server's peak memory", 'MiB', ({ httpExport }) => httpExport.peakMib, FLAT),
    ...Object.keys(stores[0]?.reads ?? {}).flatMap((kind) => [
      row(`${kind}, p50`, 'ms', ({ reads }) => reads[kind]?.p50Ms ?? Number.NaN),
      row(`${kind}, p99`, 'ms', ({ reads }) => reads[kind]?.p99Ms ?? Number.NaN, AT_MOST),
    ]),
    ...(['ascending', 'random'] as const).flatMap((order) => [
      row(`creates, ${order} ids`, '/s', ({ creates }) => creates?.[order].perSecond ?? Number.NaN, AT_LEAST),
      row("  the server's CPU time per create", 'µs', ({ creates }) => creates?.[order].cpuUs ?? Number.NaN),
    ]),
    row('memory at the end', 'MiB', ({ rssMib }) => rssMib, FLAT),
    row('records at the end', '', ({ recordsInTheEnd }) => recordsInTheEnd),
    row('file size at the end', 'MiB', ({ fileMib }) => fileMib),
  ];
}

function toText(value: number): string {
  return value < 100 ? value.toFixed(2) : Math.round(value).toLocaleString('en');
}
