// What `compare` has measured, as bars: creates per second and processor time of a create, a row for each contestant.

import type { Group } from './contestants/contestant.ts';
import { describeMachine } from './machine.ts';
import type { Comparison, Result } from './results.ts';
import { ACCENT, bar, exact, FAINT, INK, line, logarithmic, picture, powersUpTo, short, text } from './svg.ts';

const WIDTH = 1080;
const [LEFT, ROWS_TOP, ROW_HEIGHT, BAR_HEIGHT] = [28, 150, 38, 18];
const NAMES_WIDTH = 400;
const [FIRST, SECOND] = [
  { left: LEFT + NAMES_WIDTH, right: 670 },
  { left: 775, right: 985 },
];

const GROUPS: Record<Group, { colour: string; label: string }> = {
  ours: { colour: ACCENT, label: 'Plant Store' },
  floor: { colour: '#c9b458', label: 'stores nothing' },
  'hand-written': { colour: '#8aa4c8', label: 'written by hand' },
  peer: { colour: '#b7bec7', label: 'other services' },
};

export function compareSvg({ date, machine, creates }: Comparison): string {
  const rows = creates.toSorted((a, b) => b.perSecond.median - a.perSecond.median);
  const bottom = ROWS_TOP + rows.length * ROW_HEIGHT;
  return picture(WIDTH, bottom + 24, 'Creates per second, and processor time of a create', [
    text(LEFT, 38, 'One create, 64 connections', { size: 20, weight: 600 }),
    text(LEFT + 340, 38, 'logarithmic axes; the dark line: from the slowest to the fastest round', {
      size: 11,
      fill: FAINT,
    }),
    text(LEFT, 60, `${describeMachine(machine)}, ${date}`, { fill: FAINT }),
    ...legend(rows),
    ...rows.flatMap(drawName),
    ...drawBars(rows, FIRST, bottom, {
      title: 'creates per second',
      valueIn: ({ perSecond }) => perSecond.median,
      label: ({ perSecond }) => `${exact(perSecond.median)}/s`,
      spread: ({ perSecond }) => [perSecond.min, perSecond.max],
    }),
    ...drawBars(rows, SECOND, bottom, {
      title: 'processor time of a create, µs',
      valueIn: allCpuUs,
      label: (row) => `${exact(allCpuUs(row))} µs`,
      note: ({ databaseUs = 0 }) => (databaseUs > 0 ? `${exact(databaseUs)} of them in the database` : ''),
    }),
  ]);
}

interface Bars {
  title: string;
  valueIn(row: Result): number;
  label(row: Result): string;
  /** The least and the most of all rounds. */
  spread?(row: Result): [number, number];
  /** In small below the bar. */
  note?(row: Result): string;
}

interface Place {
  left: number;
  right: number;
}

function drawBars(rows: Result[], place: Place, bottom: number, bars: Bars): string[] {
  const all = rows.flatMap((row) => [bars.valueIn(row), ...(bars.spread?.(row) ?? [])]);
  const most = Math.max(...all);
  const ticks = powersUpTo(most, Math.min(...all) / 1.5); // the shortest bar is still one
  const toX = logarithmic([ticks[0] as number, most], [place.left, place.right]);
  return [
    text(place.left, ROWS_TOP - 30, bars.title, { size: 13, weight: 600 }),
    ...ticks.flatMap((tick) => [
      line(toX(tick), ROWS_TOP - 6, toX(tick), bottom),
      text(toX(tick), ROWS_TOP - 12, short(tick), { size: 10, fill: FAINT, anchor: 'middle' }),
    ]),
    ...rows.flatMap((row, at) => {
      const [top, end] = [ROWS_TOP + at * ROW_HEIGHT, toX(bars.valueIn(row))];
      const [least, longest] = (bars.spread?.(row) ?? [0, 0]).map((value) => (value > 0 ? toX(value) : end));
      const middle = top + 4 + BAR_HEIGHT / 2;
      const isOurs = row.group === 'ours';
      return [
        bar(place.left, top + 4, Math.max(end - place.left, 1), BAR_HEIGHT, GROUPS[row.group].colour),
        ...(bars.spread ? [line(least as number, middle, longest as number, middle, INK, 1.5)] : []),
        text(Math.max(end, longest as number) + 8, middle + 4, bars.label(row), { weight: isOurs ? 700 : 400 }),
        text(place.left, top + 33, bars.note?.(row) ?? '', { size: 10, fill: FAINT }),
      ];
    }),
  ];
}

function drawName({ name, group, promise }: Result, at: number): string[] {
  const top = ROWS_TOP + at * ROW_HEIGHT;
  return [
    text(LEFT, top + 17, name, { size: 13, weight: group === 'ours' ? 700 : 400 }),
    text(LEFT, top + 32, promise, { size: 10.5, fill: FAINT }),
  ];
}

function legend(rows: Result[]): string[] {
  let x = LEFT;
  const groups = (Object.keys(GROUPS) as Group[]).filter((group) => rows.some((row) => row.group === group));
  return groups.flatMap((group) => {
    const { colour, label } = GROUPS[group];
    const begin = x;
    x += 30 + 6.2 * label.length;
    return [bar(begin, 73, 10, 10, colour), text(begin + 15, 82, label, { size: 11 })];
  });
}

function allCpuUs({ serverUs = 0, databaseUs = 0 }: Result): number {
  return serverUs + databaseUs;
}
