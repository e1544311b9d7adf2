// What a soak has measured, as three small plots over time.

import { ACCENT, exact, FAINT, GRID, line, linear, path, picture, roundTicks, short, text } from '../../bench/svg.ts';
import type { Sample } from './flat.ts';

const [WIDTH, HEIGHT] = [1080, 330];
const [LEFT, TOP, GAP] = [28, 84, 32];
const [PANEL_WIDTH, PANEL_HEIGHT] = [320, 220];
const [AXIS, FOOT] = [44, 24];

export interface Soak {
  date: string;
  minutes: number;
  seed: number;
  delivered: number;
  failures: number;
  samples: Sample[];
}

const PANELS: { title: string; valueIn(sample: Sample): number }[] = [
  { title: 'Memory of the server, MiB', valueIn: ({ residentMib }) => residentMib },
  { title: 'Open files and sockets', valueIn: ({ files }) => files },
  { title: 'p99 of all requests, ms', valueIn: ({ p99Ms }) => p99Ms },
];

export function soakSvg({ date, minutes, delivered, failures, samples }: Soak): string {
  const title = `Plant Store under ${exact(minutes)} minutes of mixed load`;
  const answered = samples.at(-1)?.answered ?? 0;
  const facts = `${exact(answered)} requests, ${exact(delivered)} webhooks, ${failures} failures; ${date}`;
  return picture(WIDTH, HEIGHT, title, [
    text(LEFT, 34, title, { size: 20, weight: 600 }),
    text(LEFT, 56, facts, { fill: FAINT }),
    ...PANELS.flatMap(({ title, valueIn }, n) => {
      const points = samples.map((sample): [number, number] => [sample.seconds / 60, valueIn(sample)]);
      return drawPanel(title, points, LEFT + n * (PANEL_WIDTH + GAP));
    }),
  ]);
}

function drawPanel(title: string, points: [minute: number, value: number][], left: number): string[] {
  const ticks = roundTicks(Math.max(...points.map(([, value]) => value)) || 1);
  const minutes = roundTicks(points.at(-1)?.[0] ?? 1);
  const x = linear([0, points.at(-1)?.[0] ?? 1], [left + AXIS, left + PANEL_WIDTH]);
  const y = linear([0, ticks.at(-1) ?? 1], [TOP + PANEL_HEIGHT - FOOT, TOP + 26]);
  return [
    text(left, TOP + 8, title, { size: 13, weight: 600 }),
    ...ticks.flatMap((tick) => [
      line(x(0), y(tick), left + PANEL_WIDTH, y(tick), GRID),
      text(left + AXIS - 8, y(tick) + 4, short(tick), { size: 11, fill: FAINT, anchor: 'end' }),
    ]),
    ...minutes
      .filter((minute) => minute <= (points.at(-1)?.[0] ?? 0))
      .map((minute) =>
        text(x(minute), TOP + PANEL_HEIGHT - 6, `${short(minute)} min`, { size: 11, fill: FAINT, anchor: 'middle' }),
      ),
    path(
      points.map(([minute, value]) => [x(minute), y(value)]),
      ACCENT,
    ),
  ];
}
