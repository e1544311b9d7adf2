// The card "Changes over time", for 24 hours, 7 days or 30 days.

import type { Summary } from 'plant-store/client';
import { useMemo, useState } from 'preact/hooks';
import { Segments } from '../shared/field.tsx';
import { clockTime, shortDate } from '../shared/time.tsx';
import { BarChart } from './bar-chart.tsx';
import { type Bar, barsOf, type Period } from './hour-counts.ts';

interface Look {
  every: number;
  isCentered: boolean;
  /** The period in a sentence. */
  words: string;
  label(bar: Bar): string;
  title(bar: Bar): string;
}

const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short' });

const LOOKS: Record<Period, Look> = {
  '24h': {
    every: 4,
    isCentered: false,
    words: '24 hours',
    label: ({ start }) => clockTime(start),
    title: ({ start }) => `${isToday(start) ? 'Today' : 'Yesterday'}, ${clockTime(start)}`,
  },
  '7d': {
    every: 4,
    isCentered: true,
    words: '7 days',
    label: ({ start }) => shortDate(start),
    title: ({ start, end }) => `${dayTitle(start)}, ${clockTime(start)}–${clockTime(end)}`,
  },
  '30d': {
    every: 5,
    isCentered: false,
    words: '30 days',
    label: ({ start }) => shortDate(start),
    title: ({ start }) => dayTitle(start),
  },
};

const PERIODS: { value: Period; content: string }[] = [
  { value: '24h', content: '24 h' },
  { value: '7d', content: '7 d' },
  { value: '30d', content: '30 d' },
];

export function ChangesCard({ summary, nowMs }: { summary: Summary; nowMs: number }) {
  const [period, setPeriod] = useState<Period>('24h');
  const bars = useMemo(() => barsOf(summary.changes, period, nowMs), [summary, period, nowMs]);
  const look = LOOKS[period];
  const emptyText = summary.lastChange === 0 ? 'No changes yet' : `No changes in the last ${look.words}`;
  return (
    <section class="card chart-card" aria-labelledby="changes-title">
      <header class="card-head">
        <h2 id="changes-title">Changes over time</h2>
        <ul class="chart-legend">
          <li>
            <i class="a" />
            Added
          </li>
          <li>
            <i class="u" />
            Updated
          </li>
          <li>
            <i class="d" />
            Deleted
          </li>
        </ul>
        <Segments<Period> label="Period" class="s" value={period} options={PERIODS} onChange={setPeriod} />
      </header>
      <div class="chart">
        <BarChart key={period} bars={bars} {...look} emptyText={emptyText} />
      </div>
    </section>
  );
}

function isToday(time: Date): boolean {
  return time.toDateString() === new Date().toDateString();
}

function dayTitle(time: Date): string {
  return isToday(time) ? 'Today' : `${weekday.format(time)} ${shortDate(time)}`;
}
