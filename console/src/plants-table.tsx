// The table of plants. It loads more rows as the user scrolls in either direction. The visible rows keep their position
// when rows above them are added or removed.

import type { PlantRecord } from 'plant-store/client';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { Row, type RowActions, Rows } from './plant-rows.tsx';
import type { Part } from './plant-window.ts';
import { createRowPlaces } from './row-places.ts';
import type { Plants } from './use-plants.ts';
import type { Remove } from './use-removal.ts';

const NONE = new Set<bigint>();
/** Distance from either end at which the next page is loaded. */
const NEAR_PX = 2000;

interface TableProps {
  plants: Plants;
  isSearch: boolean;
  onTag(tag: string): void;
  onEdit: ((record: PlantRecord) => void) | undefined;
  onDelete: Remove | undefined;
  /** Called when a click on Delete is ignored because the row has just moved there. */
  onMoved(): void;
}

export function PlantsTable({ plants, isSearch, ...actions }: TableProps) {
  const { window: shown, withId, fresh } = plants;
  const scroller = useRef<HTMLElement>(null);
  const anchor = useRef<{ id: string; top: number } | undefined>(undefined);
  const places = useMemo(() => createRowPlaces(() => (scroller.current ? visibleRows(scroller.current) : [])), []);
  const latest = useRef(actions);
  latest.current = actions;
  /** Stays the same object, so that the rows need not be rendered again. */
  const rowActions = useMemo<RowActions>(
    () => ({
      isWriter: actions.onEdit !== undefined,
      onTag: (tag) => latest.current.onTag(tag),
      onEdit: (record) => latest.current.onEdit?.(record),
      onDelete(record, isByKey) {
        if (isByKey || places.isSettled(record.id)) latest.current.onDelete?.(record, isByKey);
        else latest.current.onMoved();
      },
    }),
    [actions.onEdit !== undefined],
  );

  function onScroll(): void {
    const box = scroller.current;
    if (!box || !shown) return;
    anchor.current = findAnchor(box);
    if (!shown.isEnd && box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX) plants.more();
    else if (shown.before > 0 && box.scrollTop < NEAR_PX) plants.back();
  }

  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const row = anchor.current && box.querySelector<HTMLElement>(`tr[data-id="${anchor.current.id}"]`);
    if (anchor.current && row && box.scrollTop > 0) box.scrollTop += row.offsetTop - anchor.current.top;
    onScroll();
  }, [shown]);

  useLayoutEffect(places.note); // Runs after every render.
  useEffect(() => {
    const observer = new ResizeObserver(places.note); // An element that appears above the table moves it down.
    if (scroller.current) observer.observe(scroller.current);
    return () => observer.disconnect();
  }, []);

  return (
    <section
      class="scroller"
      ref={scroller}
      aria-label="Table of plants"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it
      tabIndex={0}
      onScroll={() => {
        places.onScroll();
        onScroll();
      }}
    >
      <table aria-rowcount={shown?.isEnd ? shown.count + 1 : -1}>
        <thead>
          <tr>
            <th scope="col" class="id">
              Id
            </th>
            <th scope="col">Name</th>
            <th scope="col">Tag</th>
            <th scope="col" class="time">
              Updated
            </th>
            {actions.onEdit && (
              <th scope="col" class="actions">
                <span class="unseen">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        {withId && (
          <tbody>
            <Row record={withId} index={2} isFresh={fresh.has(withId.id)} isFound {...rowActions} />
          </tbody>
        )}
        {shown?.parts.map((part, at) => (
          <Rows
            key={part.cursor ?? 'first'}
            part={part}
            before={shown.before + sum(shown.parts.slice(0, at))}
            fresh={part.records.some(({ id }) => fresh.has(id)) ? fresh : NONE}
            withoutId={withId?.id}
            actions={rowActions}
          />
        ))}
      </table>
      {shown?.count === 0 && !withId && !plants.isPending && (
        <p class="empty">{isSearch ? 'No plants match this search' : 'No plants yet. Add a plant or import a file.'}</p>
      )}
      {shown && !shown.isEnd && <p class="empty">Loading more…</p>}
    </section>
  );
}

function sum(parts: Part[]): number {
  return parts.reduce((total, { records }) => total + records.length, 0);
}

/** Returns the first visible row. */
function findAnchor(box: HTMLElement): { id: string; top: number } | undefined {
  const [row] = visibleRows(box);
  return row && { id: row.dataset.id ?? '', top: row.offsetTop };
}

function visibleRows(box: HTMLElement): HTMLElement[] {
  const rows = [...box.querySelectorAll<HTMLElement>('tbody tr')];
  const first = rows.findIndex((row) => row.offsetTop + row.offsetHeight > box.scrollTop + HEADER_PX);
  const behind = rows.findIndex((row, at) => at > first && row.offsetTop > box.scrollTop + box.clientHeight);
  return first < 0 ? [] : rows.slice(first, behind < 0 ? undefined : behind);
}

const HEADER_PX = 40;
