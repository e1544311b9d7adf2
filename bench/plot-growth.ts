// What `growth` has measured, as small plots against the number of records.

import type { Growth, StoreGrowth } from './growth-table.ts';
import { describeMachine } from './machine.ts';
import {
  ACCENT,
  dot,
  exact,
  FAINT,
  GRID,
  line,
  linear,
  logarithmic,
  path,
  picture,
  roundTicks,
  short,
  text,
} from './svg.ts';

const [WIDTH, HEIGHT] = [1080, 760];
const [COLUMNS, PANEL_WIDTH, PANEL_HEIGHT] = [3, 320, 300];
const [LEFT, TOP, GAP_X, GAP_Y] = [28, 88, 32, 24];
const [LEGEND_TOP, LEGEND_ROW] = [38, 17];
const PLOT = { left: 42, top: 92, bottom: 26 };
const COLOURS = [ACCENT, '#3b6fb5', '#c2691c'];

interface Panel {
  title: string;
  unit: string;
  curves: Curve[];
  /** Drawn across. */
  limit?: number;
}

interface Curve {
  name: string;
  valueIn(store: StoreGrowth): number | undefined;
}

const PANELS: Panel[] = [
  {
    title: 'Creates over HTTP, 64 connections',
    unit: '/s',
    curves: [
      { name: 'ascending ids', valueIn: ({ creates }) => creates?.ascending.perSecond },
      { name: 'random ids', valueIn: ({ creates }) => creates?.random.perSecond },
    ],
  },
  {
    title: 'Processor time of a create',
    unit: 'µs',
    curves: [
      { name: 'ascending ids', valueIn: ({ creates }) => creates?.ascending.cpuUs },
      { name: 'random ids', valueIn: ({ creates }) => creates?.random.cpuUs },
    ],
  },
  { title: 'GET by id and a page of 100, p99', unit: 'ms', curves: [p99('GET by id'), p99('page of 100')] },
  {
    title: 'Search, p99',
    unit: 'ms',
    curves: [p99('q, a whole word'), p99('q, two words'), p99('q and tag')],
  },
  {
    title: 'Import and export, records',
    unit: '/s',
    curves: [
      { name: 'plant-store import', valueIn: (store) => store.import.perSecond },
      { name: 'import over HTTP', valueIn: ({ httpImport }) => httpImport.perSecond },
      { name: 'export', valueIn: ({ httpExport }) => httpExport.perSecond },
    ],
  },
  {
    title: 'Peak memory',
    unit: 'MiB',
    limit: 256,
    curves: [
      { name: 'plant-store import', valueIn: (store) => store.import.peakMib },
      { name: 'server: import and export', valueIn: ({ httpExport }) => httpExport.peakMib },
    ],
  },
];

export function growthSvg({ date, machine, stores }: Growth): string {
  const sizes = stores.map(({ records }) => short(records));
  const title = `Plant Store on SQLite, from ${sizes[0]} to ${sizes.at(-1)} records`;
  return picture(WIDTH, HEIGHT, title, [
    text(LEFT, 38, title, { size: 20, weight: 600 }),
    text(LEFT, 60, `${describeMachine(machine)}, ${date}`, { fill: FAINT }),
    ...PANELS.flatMap((panel, n) => drawPanel(panel, stores, n)),
    text(
      LEFT,
      HEIGHT - 14,
      'Number of records on a logarithmic axis. Of a short import most is the start of the process.',
      {
        size: 11,
        fill: FAINT,
      },
    ),
  ]);
}

function drawPanel({ title, unit, curves, limit }: Panel, stores: StoreGrowth[], n: number): string[] {
  const left = LEFT + (n % COLUMNS) * (PANEL_WIDTH + GAP_X);
  const top = TOP + Math.floor(n / COLUMNS) * (PANEL_HEIGHT + GAP_Y);
  const [x1, x2] = [left + PLOT.left, left + PANEL_WIDTH];
  const [y1, y2] = [top + PANEL_HEIGHT - PLOT.bottom, top + PLOT.top];
  const drawn = curves.map((curve) => stores.map((store) => curve.valueIn(store) ?? 0));
  const ticks = roundTicks(Math.max(...drawn.flat(), limit ?? 0));
  const records = stores.map((store) => store.records);
  const toX = logarithmic([Math.min(...records), Math.max(...records)], [x1 + 14, x2 - 14]);
  const toY = linear([0, ticks.at(-1) as number], [y1, y2]);
  const parts = [
    text(left, top + 16, title, { size: 14, weight: 600 }),
    ...curves.flatMap((curve, at) => drawLegend(curve, drawn[at] as number[], unit, [left, top, at])),
    ...ticks.flatMap((tick) => [
      line(x1, toY(tick), x2, toY(tick), tick === 0 ? FAINT : GRID),
      text(x1 - 8, toY(tick) + 4, short(tick), { size: 11, fill: FAINT, anchor: 'end' }),
    ]),
    ...records.map((count) => text(toX(count), y1 + 18, short(count), { size: 11, fill: FAINT, anchor: 'middle' })),
  ];
  if (limit !== undefined) {
    parts.push(
      path(
        [
          [x1, toY(limit)],
          [x2, toY(limit)],
        ],
        FAINT,
        '4 4',
      ),
    );
    parts.push(text(x2, toY(limit) - 6, `${limit} ${unit}`, { size: 11, fill: FAINT, anchor: 'end' }));
  }
  for (const [at, values] of drawn.entries()) {
    const colour = COLOURS[at] as string;
    const points = values.map((value, s): [number, number] => [toX(records[s] as number), toY(value)]);
    parts.push(path(points, colour), ...points.map(([x, y]) => dot(x, y, colour)));
  }
  return parts;
}

/** With the first and the last value, which is what it is all about. */
function drawLegend(
  { name }: Curve,
  values: number[],
  unit: string,
  [left, top, at]: [number, number, number],
): string[] {
  const y = top + LEGEND_TOP + at * LEGEND_ROW;
  const change = `${exact(values[0] ?? 0)} → ${exact(values.at(-1) ?? 0)} ${unit}`;
  return [
    dot(left + 4, y - 4, COLOURS[at] as string),
    text(left + 13, y, name, { size: 12 }),
    text(left + PANEL_WIDTH, y, change, { size: 12, anchor: 'end' }),
  ];
}

function p99(kind: string): Curve {
  return { name: kind, valueIn: ({ reads }) => reads[kind]?.p99Ms };
}
