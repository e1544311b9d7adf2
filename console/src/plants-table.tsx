// The table of plants, which goes on as one scrolls, in both directions. What is being looked at stays where it is,
// whatever comes or goes above it.

import type { PlantRecord } from 'plant-store/client';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { Row, type RowActions, Rows } from './plant-rows.tsx';
import type { Part } from './plant-window.ts';
import { createRowPlaces } from './row-places.ts';
import type { Plants } from './use-plants.ts';
import type { Remove } from './use-removal.ts';

const NONE = new Set<bigint>();
/** So near to the end the next page is fetched. */
const NEAR_PX = 2000;

interface TableProps {
  plants: Plants;
  isSearch: boolean;
  onTag(tag: string): void;
  onEdit: ((record: PlantRecord) => void) | undefined;
  onDelete: Remove | undefined;
  /** A click on Delete was not taken, since the row came there only just now. */
  onMoved(): void;
}

export function PlantsTable({ plants, isSearch, ...actions }: TableProps) {
  const { window: shown, withId, fresh } = plants;
  const scroller = useRef<HTMLElement>(null);
  const anchor = useRef<{ id: string; top: number } | undefined>(undefined);
  const places = useMemo(() => createRowPlaces(() => (scroller.current ? visibleRows(scroller.current) : [])), []);
  const latest = useRef(actions);
  latest.current = actions;
  /** The same for all time, so that rows need not be made again for them. */
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

  useLayoutEffect(places.note); // whatever was rendered
  useEffect(() => {
    const observer = new ResizeObserver(places.note); // what comes above the table pushes it down
    if (scroller.current) observer.observe(scroller.current);
    return () => observer.disconnect();
  }, []);

  return (
    <section
      class="scroller"
      ref={scroller}
      aria-label="Table of plants"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: who has only keys must be able to scroll it
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

/** The first row that is seen. */
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
