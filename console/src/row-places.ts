// Where the rows are on the screen, and since when. They move by themselves when plants come or go, so a click may
// find another one than it was meant for.

/** Who saw a row move has decided anew by then. */
const SETTLED_MS = 450;
/** Of rounding. */
const NEAR_PX = 2;

export interface RowPlaces {
  /** After anything that may have moved rows by itself. */
  note(): void;
  /** After somebody has scrolled: what moved, they moved. */
  onScroll(): void;
  /** The row has been at its place for a while, or was brought there. */
  isSettled(id: bigint): boolean;
}

export function createRowPlaces(visibleRows: () => HTMLElement[]): RowPlaces {
  let places = new Map<string | undefined, { top: number; sinceMs: number }>();

  function look(sinceMs: number): void {
    const seen: typeof places = new Map();
    for (const row of visibleRows()) {
      const { id } = row.dataset;
      const { top } = row.getBoundingClientRect();
      const known = places.get(id);
      seen.set(id, known && Math.abs(known.top - top) < NEAR_PX ? known : { top, sinceMs });
    }
    places = seen;
  }

  return {
    note: () => look(places.size > 0 ? performance.now() : Number.NEGATIVE_INFINITY), // where none was, none moved
    onScroll: () => look(Number.NEGATIVE_INFINITY),
    isSettled: (id) => performance.now() - (places.get(String(id))?.sinceMs ?? Number.NEGATIVE_INFINITY) > SETTLED_MS,
  };
}
