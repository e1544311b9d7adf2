// Plots the results of `growth` as small charts over the number of records.

import type { Growth, StoreGrowth } from './growth-table.ts';
import { linePanels } from './line-panels.ts';
import { describeMachine } from './machine.ts';
import { type Picture, short } from './picture.ts';

type Value = (store: StoreGrowth) => number | undefined;

interface Chart {
  title: string;
  unit: string;
  lines: Record<string, Value>;
  limit?: number;
}

const CHARTS: Chart[] = [
  {
    title: 'Creates over HTTP, 64 connections',
    unit: '/s',
    lines: {
      'ascending ids': ({ creates }) => creates?.ascending.perSecond,
      'random ids': ({ creates }) => creates?.random.perSecond,
    },
  },
  {
    title: 'CPU time per create',
    unit: 'µs',
    lines: {
      'ascending ids': ({ creates }) => creates?.ascending.cpuUs,
      'random ids': ({ creates }) => creates?.random.cpuUs,
    },
  },
  {
    title: 'GET by id and lists, p99',
    unit: 'ms',
    lines: p99('GET by id', 'page of 100', 'page of 100, by name'),
  },
  { title: 'Search, p99', unit: 'ms', lines: p99('q, a whole word', 'q, two words', 'q and tag') },
  {
    title: 'Import and export, records',
    unit: '/s',
    lines: {
      'plant-store import': (store) => store.import.perSecond, // the process start dominates a short import
      'import over HTTP': ({ httpImport }) => httpImport.perSecond,
      export: ({ httpExport }) => httpExport.perSecond,
    },
  },
  {
    title: 'Peak memory',
    unit: 'MiB',
    lines: {
      'plant-store import': (store) => store.import.peakMib,
      'server: import and export': ({ httpExport }) => httpExport.peakMib,
    },
    limit: 256,
  },
];

export function growthPicture({ date, machine, stores }: Growth): Picture {
  const sizes = stores.map(({ records }) => short(records));
  return linePanels({
    title: `Plant Store on SQLite, from ${sizes[0]} to ${sizes.at(-1)} records`,
    facts: `${describeMachine(machine)}, ${date}`,
    xAxis: { type: 'log' },
    xLabel: short,
    panels: CHARTS.map(({ lines, ...chart }) => ({
      ...chart,
      lines: Object.entries(lines).map(([name, value]) => ({
        name,
        points: stores.map((store): [number, number] => [store.records, value(store) ?? 0]),
      })),
    })),
  });
}

function p99(...kinds: string[]): Record<string, Value> {
  return Object.fromEntries(kinds.map((kind) => [kind, ({ reads }: StoreGrowth) => reads[kind]?.p99Ms]));
}
