// Places the rows of a list of any length in a scrolled element. Browsers limit the height of an element to some 17
// million pixels, which is 400,000 rows. A longer list gets a shorter track: a small move of the scrollbar moves the rows
// by the same distance, and a far one, such as dragging the thumb, moves to the proportional row.

/** Greatest height of the track. */
export const MAX_TRACK_PX = 8_000_000;
/** A move of more than this number of screens is a jump. */
const JUMP_SCREENS = 3;

export interface Measures {
  rows: number;
  rowPx: number;
  /** Height of the visible part. */
  screenPx: number;
}

/** The position of a list. Row n is at `n * rowPx + basePx` in the track. */
export interface Position {
  scrollPx: number;
  basePx: number;
}

export const AT_TOP: Position = { scrollPx: 0, basePx: 0 };

export function trackPx({ rows, rowPx }: Measures): number {
  return Math.min(rows * rowPx, MAX_TRACK_PX);
}

/** Returns the position after the browser has scrolled to `scrollPx`. Its `scrollPx` differs if the list must move. */
export function scrolledTo(scrollPx: number, last: Position, measures: Measures): Position {
  const { rows, rowPx, screenPx } = measures;
  if (rows * rowPx <= MAX_TRACK_PX) return { scrollPx, basePx: 0 };
  const maxScrollPx = trackPx(measures) - screenPx;
  if (scrollPx <= 0) return AT_TOP;
  if (scrollPx >= maxScrollPx) return atRow(rows, measures);
  const isJump = Math.abs(scrollPx - last.scrollPx) > JUMP_SCREENS * screenPx;
  if (isJump) {
    const offsetPx = Math.round((scrollPx / maxScrollPx) * (rows * rowPx - screenPx));
    return { scrollPx, basePx: scrollPx - offsetPx };
  }
  const offsetPx = scrollPx - last.basePx;
  if (offsetPx <= 0) return AT_TOP;
  if (offsetPx >= rows * rowPx - screenPx) return atRow(rows, measures);
  return { scrollPx, basePx: last.basePx };
}

/** Returns the position at which this row is the first one, or the last position. */
export function atRow(row: number, measures: Measures): Position {
  const { rows, rowPx, screenPx } = measures;
  const maxOffsetPx = Math.max(0, rows * rowPx - screenPx);
  const offsetPx = Math.min(row * rowPx, maxOffsetPx);
  if (rows * rowPx <= MAX_TRACK_PX) return { scrollPx: offsetPx, basePx: 0 };
  const scrollPx = Math.round((offsetPx / maxOffsetPx) * (trackPx(measures) - screenPx));
  return { scrollPx, basePx: scrollPx - offsetPx };
}

/** Returns the rows that are at least partly visible, from `first` up to but not including `end`. */
export function visibleRows({ scrollPx, basePx }: Position, measures: Measures): { first: number; end: number } {
  const { rows, rowPx, screenPx } = measures;
  const offsetPx = Math.max(0, scrollPx - basePx);
  const first = Math.min(Math.floor(offsetPx / rowPx), rows);
  return { first, end: Math.min(rows, Math.ceil((offsetPx + screenPx) / rowPx)) };
}
