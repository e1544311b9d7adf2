// Which row the pointer is over. Rows move by themselves when plants come or go, so a click may find another one than
// it was meant for.

/** Somebody who saw the rows move has decided anew by then. */
const SETTLED_MS = 450;

export interface RowPointer {
  /** The pointer has moved, or come down. */
  onPointer(event: PointerEvent): void;
  /** The rows may have. */
  onRows(): void;
  /** What is under it now has been there for a while, or the pointer came to it. */
  isSettled(): boolean;
}

export function createRowPointer(): RowPointer {
  let [x, y] = [-1, -1];
  let id: string | undefined;
  let movedMs = Number.NEGATIVE_INFINITY;

  return {
    onPointer({ clientX, clientY }) {
      [x, y] = [clientX, clientY];
      const found = rowAt(x, y);
      if (found !== id) movedMs = Number.NEGATIVE_INFINITY; // it was led there
      id = found;
    },
    onRows() {
      const found = rowAt(x, y);
      if (found !== id) movedMs = performance.now();
      id = found;
    },
    isSettled: () => performance.now() - movedMs > SETTLED_MS,
  };
}

function rowAt(x: number, y: number): string | undefined {
  return document.elementFromPoint(x, y)?.closest('tr')?.dataset.id;
}
