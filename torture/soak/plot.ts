// Plots the results of a soak test as three small charts over time.

import { linePanels } from '../../bench/line-panels.ts';
import { exact, type Picture, short } from '../../bench/picture.ts';
import type { Sample } from './flat.ts';

export interface Soak {
  date: string;
  minutes: number;
  seed: number;
  delivered: number;
  failures: number;
  samples: Sample[];
}

const CHARTS: Record<string, (sample: Sample) => number> = {
  'Server memory, MiB': ({ residentMib }) => residentMib,
  'Open files and sockets': ({ files }) => files,
  'p99 of all requests, ms': ({ p99Ms }) => p99Ms,
};

export function soakPicture({ date, minutes, delivered, failures, samples }: Soak): Picture {
  const answered = samples.at(-1)?.answered ?? 0;
  return linePanels({
    title: `Plant Store under ${exact(minutes)} minutes of mixed load`,
    facts: `${exact(answered)} requests, ${exact(delivered)} webhooks, ${failures} failures; ${date}`,
    xAxis: { type: 'value', max: 'dataMax', splitNumber: 3 },
    xLabel: (minute) => `${short(minute)} min`,
    panels: Object.entries(CHARTS).map(([title, value]) => ({
      title,
      unit: '',
      lines: [{ name: title, points: samples.map((sample) => [sample.seconds / 60, value(sample)]) }],
    })),
  });
}
