// A bar chart of changes per hour of the last 24 hours, or per day of the last 30 days, in the browser's time zone.

import type { Summary } from 'plant-store/client';
import { useState } from 'preact/hooks';

const HOUR_MS = 3_600_000;
const WIDTH = 480;
const HEIGHT = 150;
const FOOT = 18;

interface Span {
  label: string;
  changes: number;
}

const SPANS = {
  day: { title: '24 hours', bar: 'hour', count: 24 },
  month: { title: '30 days', bar: 'day', count: 30 },
} as const;
type SpanName = keyof typeof SPANS;

export function ChangesChart({ hours }: { hours: Summary['changes'] }) {
  const [name, setName] = useState<SpanName>('day');
  const spans = toSpans(hours, name, new Date());
  const most = Math.max(1, ...spans.map(({ changes }) => changes));
  const total = spans.reduce((sum, { changes }) => sum + changes, 0);
  const step = WIDTH / spans.length;
  const { title, bar } = SPANS[name];
  return (
    <section class="card" aria-labelledby="changes-title">
      <h2 id="changes-title">Changes over time</h2>
      <fieldset class="choice" aria-label="Period">
        {(Object.keys(SPANS) as SpanName[]).map((key) => (
          <button key={key} type="button" aria-pressed={key === name} onClick={() => setName(key)}>
            {SPANS[key].title}
          </button>
        ))}
      </fieldset>
      <svg
        class="chart"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`${total.toLocaleString()} changes in the last ${title}, at most ${most.toLocaleString()} per ${bar}`}
      >
        {spans.map(({ label, changes }, at) => {
          const height = ((HEIGHT - FOOT - 4) * changes) / most;
          const isLabelled = at % Math.ceil(spans.length / 6) === 0;
          return (
            <g key={at}>
              <rect
                x={at * step + 1}
                y={HEIGHT - FOOT - Math.max(height, changes > 0 ? 2 : 0)}
                width={step - 2}
                height={Math.max(height, changes > 0 ? 2 : 0)}
                rx="2"
              >
                <title>{`${label}: ${changes.toLocaleString()}`}</title>
              </rect>
              {isLabelled && (
                <text x={at * step + 1} y={HEIGHT - 4}>
                  {label}
                </text>
              )}
            </g>
          );
        })}
        <line x1="0" x2={WIDTH} y1={HEIGHT - FOOT} y2={HEIGHT - FOOT} />
      </svg>
    </section>
  );
}

function toSpans(hours: Summary['changes'], name: SpanName, now: Date): Span[] {
  const { count } = SPANS[name];
  const format = new Intl.DateTimeFormat(
    undefined,
    name === 'day' ? { hour: '2-digit', minute: '2-digit' } : { day: 'numeric', month: 'short' },
  );
  return Array.from({ length: count }, (_, at) => {
    const begin = beginOf(name, now, count - 1 - at);
    const end = beginOf(name, now, count - 2 - at);
    const within = hours.filter(({ hour }) => Date.parse(hour) >= begin && Date.parse(hour) < end);
    return { label: format.format(begin), changes: within.reduce((sum, { changes }) => sum + changes, 0) };
  });
}

/** Returns the start of the hour, or of the local day, that is `back` hours or days before the current one. */
function beginOf(name: SpanName, now: Date, back: number): number {
  if (name === 'day') return (Math.floor(now.getTime() / HOUR_MS) - back) * HOUR_MS;
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - back).getTime();
}
