// The scroll position of the list, and which rows are visible.

import type { RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useDensity } from '../frame/settings.ts';
import { AT_TOP, atRow, type Measures, type Position, scrolledTo, trackPx, visibleRows } from './row-scroll.ts';

const REM_PX = 16;
const PHONE_REM = 40;
const TWO_LINES_REM = 41;

export function useRowScroll(scroller: RefObject<HTMLElement | null>, rows: number) {
  const { widthPx, heightPx } = useSize(scroller);
  const measures: Measures = { rows, rowPx: rowPxOf(widthPx, useDensity()), screenPx: heightPx };
  const [position, setPosition] = useState(AT_TOP);
  const place = useRef(position);
  const visible = useMemo(() => visibleRows(position, measures), [position, rows, measures.rowPx, heightPx]);

  /** Shows a position. The browser reports a scroll afterwards, which then changes nothing. */
  function move(next: Position): void {
    place.current = next;
    setPosition(next);
    if (scroller.current && Math.abs(scroller.current.scrollTop - next.scrollPx) >= 1) {
      scroller.current.scrollTop = next.scrollPx;
    }
  }

  // A shorter list, or rows of another height, may leave the position behind the end.
  useLayoutEffect(() => {
    const row = visibleRows(place.current, measures).first;
    if (place.current.basePx !== 0 || row * measures.rowPx > trackPx(measures)) move(atRow(row, measures));
  }, [rows, measures.rowPx]);

  return {
    ...visible,
    rowPx: measures.rowPx,
    /** Number of rows that fill the visible part. */
    screenRows: Math.ceil(heightPx / measures.rowPx),
    trackPx: trackPx(measures),
    topPxOf: (row: number) => row * measures.rowPx + position.basePx,
    isAtTop: () => place.current.scrollPx < measures.rowPx / 2,
    onScroll(scrollPx: number) {
      if (Math.abs(scrollPx - place.current.scrollPx) >= 1) move(scrolledTo(scrollPx, place.current, measures));
    },
    toTop: () => move(AT_TOP),
    toEnd: () => move(atRow(rows, measures)),
    /** Scrolls so that the row is visible. */
    reveal(row: number) {
      const { first, end } = visibleRows(place.current, measures);
      const inView = Math.floor(heightPx / measures.rowPx);
      if (row <= first) move(atRow(Math.max(0, row - 1), measures));
      else if (row >= end - 2) move(atRow(Math.max(0, row - inView + 3), measures));
    },
  };
}

/** The height of a row is fixed in each layout, so that the place of a row follows from its number. */
function rowPxOf(widthPx: number, density: 'comfortable' | 'compact'): number {
  if (innerWidth < PHONE_REM * REM_PX) return 76;
  if (widthPx < TWO_LINES_REM * REM_PX) return 60;
  return density === 'compact' ? 32 : 42;
}

/** Returns the size of the part of the scrolled element that shows rows. */
function useSize(element: { current: HTMLElement | null }): { widthPx: number; heightPx: number } {
  const [size, setSize] = useState({ widthPx: innerWidth, heightPx: innerHeight });
  useLayoutEffect(() => {
    const { current } = element;
    if (!current) return;
    const header = current.querySelector<HTMLElement>('.thead');
    const observer = new ResizeObserver(() =>
      setSize({ widthPx: current.clientWidth, heightPx: current.clientHeight - (header?.offsetHeight ?? 0) }),
    );
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return size;
}
