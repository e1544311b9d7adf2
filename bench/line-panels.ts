// Small line charts, three per row.

import { COLOURS, exact, FAINT, GRID, heading, type Picture, short } from './picture.ts';

const [COLUMNS, PANEL_WIDTH, PANEL_HEIGHT, GAP] = [3, 320, 300, 32];
const [LEFT, TOP, AXIS_WIDTH, AXIS_HEIGHT, LEGEND_ROW] = [28, 84, 46, 30, 17];

export interface Panel {
  title: string;
  unit: string;
  lines: { name: string; points: [x: number, y: number][] }[];
  /** Value of a horizontal line across the chart. */
  limit?: number;
}

export interface PanelsOptions {
  title: string;
  facts: string;
  panels: Panel[];
  xAxis: { type: 'log' | 'value'; max?: 'dataMax'; splitNumber?: number };
  xLabel(x: number): string;
}

export function linePanels({ title, facts, panels, xAxis, xLabel }: PanelsOptions): Picture {
  const places = panels.map(({ lines }, n) => {
    const left = LEFT + (n % COLUMNS) * (PANEL_WIDTH + GAP);
    const top = TOP + Math.floor(n / COLUMNS) * (PANEL_HEIGHT + GAP);
    const head = lines.length > 1 ? 30 + lines.length * LEGEND_ROW : 34;
    return { left, top, head };
  });
  return {
    width: LEFT + COLUMNS * (PANEL_WIDTH + GAP),
    height: TOP + Math.ceil(panels.length / COLUMNS) * (PANEL_HEIGHT + GAP),
    options: {
      title: [heading(title, facts), ...panels.map((panel, n) => ({ ...titleOf(panel), ...places[n] }))],
      grid: places.map(({ left, top, head }) => ({
        left: left + AXIS_WIDTH,
        top: top + head,
        width: PANEL_WIDTH - AXIS_WIDTH,
        height: PANEL_HEIGHT - head - AXIS_HEIGHT,
      })),
      xAxis: panels.map((_, gridIndex) => {
        return { gridIndex, ...xAxis, axisLabel: { color: FAINT, formatter: xLabel }, splitLine: { show: false } };
      }),
      yAxis: panels.map(({ limit }, gridIndex) => ({
        gridIndex,
        min: 0,
        splitNumber: 4,
        ...(limit !== undefined && { max: Math.ceil(limit / 50) * 50 }), // keeps the limit inside the chart
        axisLabel: { color: FAINT, formatter: short },
        splitLine: { lineStyle: { color: GRID } },
      })),
      series: panels.flatMap(({ lines, limit, unit }, n) =>
        lines.map(({ points }, at) => ({
          type: 'line',
          xAxisIndex: n,
          yAxisIndex: n,
          data: points,
          color: COLOURS[at],
          symbol: 'circle',
          symbolSize: 7,
          showSymbol: points.length < 20,
          lineStyle: { width: points.length < 20 ? 2 : 1.5 },
          ...(at === 0 && limit !== undefined && { markLine: limitLine(limit, unit) }),
        })),
      ),
    },
  };
}

/** Returns the title, with a legend of each line's name, first and last value. */
function titleOf({ title, unit, lines }: Panel): object {
  const legend = lines.map(({ name, points }, at) => {
    const change = `${exact(points[0]?.[1] ?? 0)} → ${exact(points.at(-1)?.[1] ?? 0)} ${unit}`;
    return `{dot${at}|●} {name|${name}}{change|${change}}`;
  });
  const rich = {
    ...Object.fromEntries(COLOURS.map((color, at) => [`dot${at}`, { color }])),
    name: { width: 150 },
    change: { width: 150, align: 'right' },
  };
  return {
    text: title,
    textStyle: { fontSize: 14 },
    padding: 0,
    ...(lines.length > 1 && { subtext: legend.join('\n'), subtextStyle: { rich, lineHeight: LEGEND_ROW } }),
  };
}

function limitLine(limit: number, unit: string): object {
  const label = { formatter: `${limit} ${unit}`, position: 'insideEndTop', color: FAINT };
  const lineStyle = { color: FAINT, type: 'dashed' };
  return { silent: true, symbol: 'none', data: [{ yAxis: limit }], lineStyle, label };
}
