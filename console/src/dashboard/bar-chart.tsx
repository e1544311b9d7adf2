// Stacked bars with axes. The pointer and the arrow keys read the values of a bar.

import { useState } from 'preact/hooks';
import { count, number } from '../shared/numbers.ts';
import { type Bar, totalOf } from './hour-counts.ts';
import { ticksOf } from './nice-scale.ts';

const SERIES = [
  { field: 'created', mark: 'a', word: 'added' },
  { field: 'updated', mark: 'u', word: 'updated' },
  { field: 'deleted', mark: 'd', word: 'deleted' },
] as const;

/** Width of a bar with the space around it, in the units of the drawing. */
const SLOT = 10;
const BAR = 6.8;
/** Maximum width of the tip. */
const TIP_WIDTH = '12.5rem';

interface Props {
  bars: Bar[];
  /** One label of the x axis stands below this number of bars. */
  every: number;
  isCentered: boolean;
  label(bar: Bar): string;
  title(bar: Bar): string;
  /** The period in a sentence. */
  words: string;
  /** Shown instead of bars if there is no change. */
  emptyText: string;
}

export function BarChart({ bars, every, isCentered, words, label, title, emptyText }: Props) {
  const [at, setAt] = useState<number>();
  const most = Math.max(...bars.map(totalOf));
  const ticks = ticksOf(most);
  const shown = at === undefined ? undefined : bars[at];
  return (
    <div class="plot">
      <div class="y" aria-hidden="true">
        {ticks.map((tick) => (
          <span key={tick}>{most > 0 || tick === 0 ? number(tick) : ''}</span>
        ))}
      </div>
      <div class="plot-area">
        <div class="grid" aria-hidden="true">
          {ticks.map((tick) => (
            <i key={tick} />
          ))}
        </div>
        {most === 0 && <p class="plot-none">{emptyText}</p>}
        <Drawing bars={bars} words={words} top={ticks[0] ?? 1} at={at} onRead={setAt} />
        <div class="tip" role="status" style={tipPlace(at, bars.length)}>
          {shown && <Values bar={shown} title={title(shown)} />}
        </div>
      </div>
      <div class={isCentered ? 'x mid' : 'x'} aria-hidden="true">
        {bars.map((bar, index) => index % every === 0 && <span key={index}>{label(bar)}</span>)}
      </div>
    </div>
  );
}

interface DrawingProps {
  bars: Bar[];
  words: string;
  top: number;
  at: number | undefined;
  onRead(at: number | undefined): void;
}

function Drawing({ bars, words, top, at, onRead }: DrawingProps) {
  const last = bars.length - 1;
  const readPointer = ({ offsetX, currentTarget }: { offsetX: number; currentTarget: SVGSVGElement }) =>
    onRead(Math.max(0, Math.min(last, Math.floor((offsetX / currentTarget.clientWidth) * bars.length))));
  const readKey = (event: KeyboardEvent) => {
    const next = { ArrowLeft: (at ?? last) - 1, ArrowRight: (at ?? last) + 1, Home: 0, End: last }[event.key];
    if (event.key === 'Escape') onRead(undefined);
    if (next === undefined) return;
    event.preventDefault();
    onRead(Math.max(0, Math.min(last, next)));
  };
  return (
    <svg
      viewBox={`0 0 ${bars.length * SLOT} 100`}
      preserveAspectRatio="none"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys read the values
      tabIndex={0}
      role="img"
      aria-label={`${count(sumOf(bars), 'change')} in the last ${words}, stacked by type. Left and right arrow keys read the values.`}
      onPointerMove={readPointer}
      onPointerDown={readPointer}
      onPointerLeave={() => onRead(undefined)}
      onFocus={(event) => event.currentTarget.matches(':focus-visible') && onRead(at ?? last)}
      onBlur={() => onRead(undefined)}
      onKeyDown={readKey}
    >
      {at !== undefined && <rect class="cursor" x={at * SLOT} y="0" width={SLOT} height="100" />}
      {SERIES.map(({ mark }, index) => (
        <path key={mark} class={mark} d={pathOf(bars, index, top)} />
      ))}
    </svg>
  );
}

function Values({ bar, title }: { bar: Bar; title: string }) {
  return (
    <>
      <b>{title}</b>
      <span class="t">{count(totalOf(bar), 'change')}</span>
      {SERIES.map(({ field, mark, word }) => (
        <span key={mark}>
          <i class={mark} />
          {number(bar[field])} {word}
        </span>
      ))}
    </>
  );
}

/** Places the tip beside the bar, on the side with more space, and inside the chart. */
function tipPlace(at: number | undefined, bars: number): { left?: string; right?: string } {
  if (at === undefined) return {};
  const isRight = at + 0.5 > bars / 2;
  const share = (100 * (isRight ? bars - at : at + 1)) / bars;
  return { [isRight ? 'right' : 'left']: `min(${share}%, 100% - ${TIP_WIDTH})` };
}

function pathOf(bars: Bar[], series: number, top: number): string {
  const round = (value: number) => Number(value.toFixed(2));
  return bars
    .map((bar, at) => {
      const values = SERIES.map(({ field }) => bar[field]);
      const value = values[series] ?? 0;
      const below = values.slice(0, series).reduce((sum, other) => sum + other, 0);
      if (value === 0) return '';
      const x = round(at * SLOT + (SLOT - BAR) / 2);
      return `M${x} ${round(100 - (100 * below) / top)}h${BAR}v${round((-100 * value) / top)}h-${BAR}z`;
    })
    .join('');
}

function sumOf(bars: Bar[]): number {
  return bars.reduce((sum, bar) => sum + totalOf(bar), 0);
}
