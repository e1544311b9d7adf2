// The scrolled list. It renders only the visible rows, and moves the focus with the arrow keys.

import type { Ref } from 'preact';
import { useImperativeHandle } from 'preact/compat';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Late } from '../shared/late.tsx';
import { ListHeader } from './list-header.tsx';
import { recordAt } from './plant-pages.ts';
import type { Sort } from './plant-query.ts';
import { PlantRow, type RowActions, SkeletonRow } from './plant-row.tsx';
import type { PlantList } from './use-plant-pages.ts';
import { useRowScroll } from './use-row-scroll.ts';

/** Rows above and below the visible ones, so that a scroll shows no gap. */
const MARGIN_ROWS = 8;

/** Time after the last move of the pointer in which rows stay in their places. */
const POINTER_MS = 1500;

export interface ListHandle {
  /** Scrolls so that the row is visible. */
  reveal(row: number): void;
  toTop(): void;
  toEnd(): void;
  /** True if rows may move: the list is at its top, and the pointer does not rest on a row that a click could miss. */
  mayMove(): boolean;
  /** Returns the first visible row. */
  first(): number;
  /** Moves the focus to the row. */
  focus(row: number): void;
}

interface Props {
  list: PlantList;
  sort: Sort;
  onSort(sort: Sort): void;
  openId: bigint | undefined;
  selected: { has(id: bigint): boolean };
  selectAll: { isAll: boolean; isSome: boolean; onChange(): void };
  parameters: Record<string, string | string[] | undefined>;
  actions: RowActions;
  handle: Ref<ListHandle>;
}

export function PlantListView({ list, sort, onSort, openId, selected, selectAll, parameters, actions, handle }: Props) {
  const scroller = useRef<HTMLElement>(null);
  const scroll = useRowScroll(scroller, list.rows);
  const first = Math.max(0, scroll.first - MARGIN_ROWS);
  const end = Math.min(list.rows, scroll.end + MARGIN_ROWS);
  const focusRow = useRef<number>(undefined);
  const pointerMs = useRef(0);
  const [focused, setFocused] = useState(0);
  const current = focused >= scroll.first && focused < scroll.end ? focused : scroll.first;
  useLayoutEffect(scroll.toTop, [list.key]);
  // Before the paint: the server finds the rows while the browser draws the empty ones.
  useLayoutEffect(() => list.show(first, end), [first, end, list.show, list.isLoaded, list.pages]);

  /** The row may not be rendered yet, or it may be hidden behind a plant. */
  function focusWanted(): void {
    if (focusRow.current === undefined) return;
    const link = scroller.current?.querySelector<HTMLElement>(`[data-row="${focusRow.current}"] a`);
    link?.focus({ preventScroll: true });
    if (link && document.activeElement === link) focusRow.current = undefined;
  }
  useLayoutEffect(focusWanted);

  useImperativeHandle(handle, () => ({
    reveal: scroll.reveal,
    first: () => scroll.first,
    toTop: scroll.toTop,
    toEnd: scroll.toEnd,
    mayMove: () => scroll.isAtTop() && Date.now() - pointerMs.current > POINTER_MS,
    focus(row) {
      focusRow.current = row;
      focusWanted();
    },
  }));

  const rows: number[] = [];
  for (let row = first; row < end; row++) rows.push(row);
  return (
    <section
      class="scroller"
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region is reached with the keyboard
      tabIndex={0}
      aria-label="List of plants"
      aria-busy={!list.isLoaded}
      onPointerMove={() => {
        pointerMs.current = Date.now();
      }}
      onScroll={({ currentTarget }) => scroll.onScroll(currentTarget.scrollTop)}
    >
      <div class="table" role="table" aria-label="Plants" aria-rowcount={list.rows + 1}>
        <ListHeader sort={sort} onSort={onSort} selectAll={selectAll} />
        {!list.isLoaded && list.rows === 0 && !list.problem && (
          <Late>
            <Skeleton rowPx={scroll.rowPx} rows={scroll.screenRows} />
          </Late>
        )}
        <div
          class="tbody rows"
          role="rowgroup"
          style={{ height: `${scroll.trackPx}px` }}
          onFocusIn={({ target }) => {
            const { row } = (target as HTMLElement).closest<HTMLElement>('[data-row]')?.dataset ?? {};
            if (row !== undefined) setFocused(Number(row));
          }}
        >
          {rows.map((row) => {
            const record = recordAt(list, row);
            const id = record?.id;
            return (
              <PlantRow
                key={row}
                row={row}
                topPx={scroll.topPxOf(row)}
                heightPx={scroll.rowPx}
                record={record}
                isOpen={id !== undefined && id === openId}
                isSelected={id !== undefined && selected.has(id)}
                isFresh={id !== undefined && list.fresh.has(id)}
                isGone={id !== undefined && list.gone.has(id)}
                isCurrent={row === current}
                parameters={parameters}
                actions={actions}
              />
            );
          })}
        </div>
      </div>
    </section>
  );
}

/** The rows of a list that is not loaded yet. */
function Skeleton({ rows, rowPx }: { rows: number; rowPx: number }) {
  return (
    <div class="tbody rows" style={{ height: `${rows * rowPx}px` }}>
      {Array.from({ length: rows }, (_, row) => (
        <SkeletonRow key={row} row={row} style={{ transform: `translateY(${row * rowPx}px)`, height: `${rowPx}px` }} />
      ))}
    </div>
  );
}
