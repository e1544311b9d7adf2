// Records the position of each visible row and the time of its last move. Rows move when plants are added or deleted,
// so a click can hit another row than intended.

/** Time after which a click on a moved row counts as intended. */
const SETTLED_MS = 450;
/** Tolerance for rounding. */
const NEAR_PX = 2;

export interface RowPlaces {
  /** Records the positions after anything that can move rows without the user. */
  note(): void;
  /** Records the positions after the user scrolled. Rows that the user moved are settled. */
  onScroll(): void;
  /** True if the row has been in its position for `SETTLED_MS`, or if the user scrolled it there. */
  isSettled(id: bigint): boolean;
}

export function createRowPlaces(visibleRows: () => HTMLElement[]): RowPlaces {
  let places = new Map<string | undefined, { top: number; sinceMs: number }>();

  function record(sinceMs: number): void {
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
    note: () => record(places.size > 0 ? performance.now() : Number.NEGATIVE_INFINITY), // The first rows did not move.
    onScroll: () => record(Number.NEGATIVE_INFINITY),
    isSettled: (id) => performance.now() - (places.get(String(id))?.sinceMs ?? Number.NEGATIVE_INFINITY) > SETTLED_MS,
  };
}
