// The table of plants, which goes on as one scrolls, in both directions. What is being looked at stays where it is,
// whatever comes or goes above it.

import type { PlantRecord } from 'plant-store/client';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Name, nameOf, Tag, Time } from './show.tsx';
import type { Plants } from './use-plants.ts';

/** So near to the end the next page is fetched. */
const NEAR_PX = 2000;

interface TableProps {
  plants: Plants;
  isSearch: boolean;
  onTag(tag: string): void;
  onEdit: ((record: PlantRecord) => void) | undefined;
  onDelete: ((record: PlantRecord) => void) | undefined;
}

export function PlantsTable({ plants, isSearch, ...actions }: TableProps) {
  const { window: shown, withId, fresh } = plants;
  const scroller = useRef<HTMLElement>(null);
  const anchor = useRef<{ id: string; top: number } | undefined>(undefined);
  const records = shown?.records.filter(({ id }) => id !== withId?.id) ?? [];

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

  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has only keys must be able to scroll it
    <section class="scroller" ref={scroller} onScroll={onScroll} aria-label="Table of plants" tabIndex={0}>
      <table aria-rowcount={shown?.isEnd ? shown.before + records.length + 1 : -1}>
        <thead>
          <tr>
            <th scope="col" class="id">
              Id
            </th>
            <th scope="col">Name</th>
            <th scope="col">Tag</th>
            <th scope="col" class="time">
              Changed
            </th>
            {actions.onEdit && (
              <th scope="col" class="actions">
                <span class="unseen">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {withId && <Row record={withId} index={2} isFresh={fresh.has(withId.id)} isFound {...actions} />}
          {records.map((record, at) => (
            <Row
              key={String(record.id)}
              record={record}
              index={(shown?.before ?? 0) + at + 2}
              isFresh={fresh.has(record.id)}
              {...actions}
            />
          ))}
        </tbody>
      </table>
      {shown && records.length === 0 && !withId && (
        <p class="empty">{isSearch ? 'Nothing fits this search.' : 'No plants yet. Add one, or import a file.'}</p>
      )}
      {shown && !shown.isEnd && <p class="empty">Loading more…</p>}
    </section>
  );
}

interface RowProps extends Pick<TableProps, 'onTag' | 'onEdit' | 'onDelete'> {
  record: PlantRecord;
  index: number;
  isFresh: boolean;
  isFound?: boolean;
}

function Row({ record, index, isFresh, isFound = false, onTag, onEdit, onDelete }: RowProps) {
  const classes = [isFresh && 'fresh', isFound && 'found'].filter(Boolean).join(' ');
  return (
    <tr data-id={String(record.id)} aria-rowindex={index} class={classes || undefined}>
      <td class="id">{String(record.id)}</td>
      <td class="name" title={record.name}>
        <Name of={record.name} />
      </td>
      <td class="tag-cell">
        <Tag of={record.tag} onClick={onTag} />
      </td>
      <td class="time">
        <Time at={record.updated} />
      </td>
      {onEdit && onDelete && (
        <td class="actions">
          <button type="button" aria-label={`Edit ${nameOf(record)}`} onClick={() => onEdit(record)}>
            Edit
          </button>
          <button type="button" aria-label={`Delete ${nameOf(record)}`} onClick={() => onDelete(record)}>
            Delete
          </button>
        </td>
      )}
    </tr>
  );
}

/** The first row that is seen. */
function findAnchor(box: HTMLElement): { id: string; top: number } | undefined {
  for (const row of box.querySelectorAll<HTMLElement>('tbody tr')) {
    if (row.offsetTop + row.offsetHeight > box.scrollTop + HEADER_PX)
      return { id: row.dataset.id ?? '', top: row.offsetTop };
  }
  return undefined;
}

const HEADER_PX = 40;
