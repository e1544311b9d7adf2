// The rows of the table of plants, grouped by page.

import type { PlantRecord } from 'plant-store/client';
import { useMemo } from 'preact/hooks';
import type { Part } from './plant-window.ts';
import { Name, nameOf, Tag, Time } from './show.tsx';
import type { Remove } from './use-removal.ts';

export interface RowActions {
  isWriter: boolean;
  onTag(tag: string): void;
  onEdit(record: PlantRecord): void;
  onDelete: Remove;
}

/** The rows of one page. They are rendered again only after a change, which keeps scrolling fast. */
export function Rows(props: {
  part: Part;
  before: number;
  fresh: Set<bigint>;
  withoutId: bigint | undefined;
  actions: RowActions;
}) {
  const { part, before, fresh, withoutId, actions } = props;
  return useMemo(
    () => (
      <tbody>
        {part.records.map(
          (record, at) =>
            record.id !== withoutId && (
              <Row
                key={String(record.id)}
                record={record}
                index={before + at + 2}
                isFresh={fresh.has(record.id)}
                {...actions}
              />
            ),
        )}
      </tbody>
    ),
    [part, before, fresh, withoutId, actions],
  );
}

interface RowProps extends RowActions {
  record: PlantRecord;
  index: number;
  isFresh: boolean;
  isFound?: boolean;
}

export function Row({ record, index, isFresh, isFound = false, isWriter, onTag, onEdit, onDelete }: RowProps) {
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
      {isWriter && (
        <td class="actions">
          <button type="button" aria-label={`Edit ${nameOf(record)}`} onClick={() => onEdit(record)}>
            Edit
          </button>
          <button
            type="button"
            aria-label={`Delete ${nameOf(record)}`}
            onClick={(event) => onDelete(record, event.detail === 0)}
          >
            Delete
          </button>
        </td>
      )}
    </tr>
  );
}
