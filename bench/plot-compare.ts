// Plots the results of `compare` as bars: creates per second and CPU time per create, with a row for each contestant.

import type { Group } from './contestants/contestant.ts';
import { describeMachine } from './machine.ts';
import { COLOURS, exact, FAINT, GRID, heading, INK, type Picture, short } from './picture.ts';
import type { Comparison, Result } from './results.ts';

const [WIDTH, TOP, ROW_HEIGHT] = [1080, 140, 38];
const GROUPS: Record<Group, { name: string; color: string }> = {
  ours: { name: 'Plant Store', color: COLOURS[0] as string },
  floor: { name: 'stores nothing', color: '#c9b458' },
  'hand-written': { name: 'hand-written', color: '#8aa4c8' },
  peer: { name: 'other services', color: '#b7bec7' },
};

interface Bars {
  left: number;
  width: number;
  title: string;
  value(row: Result): number;
  label(row: Result): string;
}

const PANELS: Bars[] = [
  {
    left: 425,
    width: 215,
    title: 'creates per second',
    value: ({ perSecond }) => perSecond.median,
    label: ({ perSecond }) => `${exact(perSecond.median)}/s`,
  },
  {
    left: 745,
    width: 185,
    title: 'CPU time per create, µs',
    value: cpuUs,
    label: (row) => `${exact(cpuUs(row))} µs${row.databaseUs ? ` {note|database ${exact(row.databaseUs)}}` : ''}`,
  },
];

export function comparePicture({ date, machine, creates }: Comparison): Picture {
  const rows = creates.toSorted((a, b) => b.perSecond.median - a.perSecond.median);
  const height = rows.length * ROW_HEIGHT;
  const names = rows.map(
    ({ name, group, version, promise }) =>
      `{${group === 'ours' ? 'ours' : 'name'}|${name} ${version}}\n{promise|${promise}}`,
  );
  const rich = {
    name: { color: INK, fontSize: 13, lineHeight: 16 },
    ours: { color: INK, fontSize: 13, lineHeight: 16, fontWeight: 'bold' },
    promise: { color: FAINT, fontSize: 10.5 },
  };
  return {
    width: WIDTH,
    height: TOP + height + 24,
    options: {
      title: [
        heading('Creates, 64 connections', `${describeMachine(machine)}, ${date}`),
        {
          text: 'logarithmic axes; dark line: slowest to fastest round',
          left: 372,
          top: 21,
          textStyle: { fontSize: 11, fontWeight: 'normal', color: FAINT },
        },
      ],
      legend: { left: 22, top: 66, itemWidth: 10, itemHeight: 10, itemGap: 26, selectedMode: false },
      grid: PANELS.map(({ left, width }) => ({ left, top: TOP, width, height })),
      xAxis: PANELS.map(({ title, value }, gridIndex) => ({
        gridIndex,
        type: 'log',
        position: 'top',
        min: 10 ** Math.floor(Math.log10(Math.min(...rows.map(value)) / 1.5)), // keeps the shortest bar visible
        max: 1.2 * Math.max(...rows.map(value)),
        name: title,
        nameLocation: 'start',
        nameGap: 0,
        nameTextStyle: {
          align: 'left',
          verticalAlign: 'bottom',
          padding: [0, 0, 24, 0],
          fontWeight: 'bold',
          color: INK,
        },
        axisLabel: { color: FAINT, fontSize: 10, formatter: short, showMaxLabel: false },
        splitLine: { lineStyle: { color: GRID }, showMaxLine: false },
      })),
      yAxis: PANELS.map((_, gridIndex) => ({
        gridIndex,
        type: 'category',
        inverse: true,
        data: names,
        axisLine: { show: false },
        axisTick: { show: false },
        axisLabel: { show: gridIndex === 0, align: 'left', margin: 397, rich },
      })),
      series: PANELS.flatMap((bars, n) =>
        (Object.keys(GROUPS) as Group[])
          .filter((group) => rows.some((row) => row.group === group))
          .map((group) => ({
            ...GROUPS[group],
            type: 'bar',
            xAxisIndex: n,
            yAxisIndex: n,
            barWidth: 18,
            barGap: '-100%', // a row has only the bar of its group
            data: rows.map((row) => (row.group === group ? bars.value(row) : undefined)),
            label: {
              show: true,
              position: 'right',
              distance: n === 0 ? 14 : 6,
              fontWeight: group === 'ours' ? 'bold' : 'normal',
              rich: { note: { color: FAINT, fontSize: 10, fontWeight: 'normal', padding: [0, 0, 0, 4] } },
              formatter: ({ dataIndex }: { dataIndex: number }) => bars.label(rows[dataIndex] as Result),
            },
            ...(n === 0 && { markLine: spreadOf(rows, names, group) }),
          })),
      ),
    },
  };
}

/** Returns lines from the slowest to the fastest round. */
function spreadOf(rows: Result[], names: string[], wanted: Group): object {
  const data = rows.flatMap(({ group, perSecond: { min, max } }, at) =>
    group === wanted ? [[{ coord: [min, names[at]] }, { coord: [max, names[at]] }]] : [],
  );
  return {
    silent: true,
    symbol: 'none',
    lineStyle: { color: INK, type: 'solid', width: 1.5 },
    label: { show: false },
    data,
  };
}

function cpuUs({ serverUs = 0, databaseUs = 0 }: Result): number {
  return serverUs + databaseUs;
}
