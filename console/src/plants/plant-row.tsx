// One row of the list: a table row on wide screens, two lines or a card on narrow ones.

import type { PlantRecord } from 'plant-store/client';
import { memo } from 'preact/compat';
import { Icon } from '../shared/icon.tsx';
import { Name, nameOf, Tag } from '../shared/plant-text.tsx';
import { Time } from '../shared/time.tsx';
import { linkTo, type Parameters } from '../view.ts';

/** What the user can do with a row. */
export interface RowActions {
  onOpen(record: PlantRecord, row: number): void;
  onSelect(record: PlantRecord, row: number, isRange: boolean): void;
  onEdit?: ((record: PlantRecord) => void) | undefined;
  onCopy(record: PlantRecord): void;
  onDelete?: ((record: PlantRecord) => void) | undefined;
}

interface Props {
  row: number;
  topPx: number;
  heightPx: number;
  record: PlantRecord | undefined;
  isOpen: boolean;
  isSelected: boolean;
  isFresh: boolean;
  isGone: boolean;
  /** True for the row that Tab reaches. The arrow keys reach the others. */
  isCurrent: boolean;
  parameters: Parameters;
  actions: RowActions;
}

export const PlantRow = memo(function PlantRow(props: Props) {
  const { row, topPx, heightPx, record } = props;
  const style = { transform: `translateY(${topPx}px)`, height: `${heightPx}px` };
  if (!record) return <SkeletonRow row={row} style={style} />;
  const { isOpen, isSelected, isFresh, isGone, isCurrent, parameters, actions } = props;
  const state = [isOpen && 'is-open', isSelected && 'is-selected', isFresh && 'is-live', isGone && 'is-gone'];
  const called = nameOf(record);
  const tabIndex = isCurrent ? 0 : -1;
  return (
    <div
      class={['tr', ...state.filter(Boolean)].join(' ')}
      style={style}
      role="row"
      aria-rowindex={row + 2}
      data-id={String(record.id)}
      data-row={row}
    >
      <div class="td c-sel" role="cell">
        <label class="box">
          <input
            type="checkbox"
            tabIndex={tabIndex}
            checked={isSelected}
            aria-label={`Select ${called}`}
            onClick={(event) => actions.onSelect(record, row, event.shiftKey)}
          />
        </label>
      </div>
      <div class="td c-id" role="cell">
        {String(record.id)}
      </div>
      <div class="td c-name" role="cell">
        <a
          href={linkTo('plants', { ...parameters, id: String(record.id) })}
          tabIndex={tabIndex}
          title={record.name.length > 40 ? record.name : undefined}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            actions.onOpen(record, row);
          }}
        >
          <Name of={record.name} />
        </a>
      </div>
      <div class="td c-tag" role="cell">
        <Tag of={record.tag} />
      </div>
      <div class="td c-upd" role="cell">
        {isGone ? 'Deleted' : <Time at={record.updated} />}
      </div>
      <div class="td c-crt" role="cell">
        <Time at={record.created} />
      </div>
      <RowButtons record={record} called={called} actions={actions} tabIndex={tabIndex} />
    </div>
  );
});

function RowButtons(props: { record: PlantRecord; called: string; actions: RowActions; tabIndex: number }) {
  const { record, called, tabIndex } = props;
  const { onEdit, onCopy, onDelete } = props.actions;
  return (
    <div class="row-acts" role="cell">
      {onEdit && (
        <button
          type="button"
          class="btn icon s quiet"
          aria-label={`Edit ${called}`}
          title="Edit (E)"
          tabIndex={tabIndex}
          onClick={() => onEdit(record)}
        >
          <Icon name="pencil" />
        </button>
      )}
      <button
        type="button"
        class="btn icon s quiet"
        aria-label={`Copy id of ${called}`}
        title="Copy id (C)"
        tabIndex={tabIndex}
        onClick={() => onCopy(record)}
      >
        <Icon name="copy" />
      </button>
      {onDelete && (
        <button
          type="button"
          class="btn icon s quiet danger"
          aria-label={`Delete ${called}`}
          title="Delete (Del)"
          tabIndex={tabIndex}
          onClick={() => onDelete(record)}
        >
          <Icon name="trash" />
        </button>
      )}
    </div>
  );
}

const WIDTHS = 4;

/** A row that is not loaded yet. */
export function SkeletonRow({ row, style }: { row: number; style: { transform: string; height: string } }) {
  return (
    <div class="tr sk" style={style} aria-hidden="true">
      <div class="td c-sel">
        <span class="bone b-box" />
      </div>
      <div class="td c-id">
        <span class={`bone b-${(row % 3) + 1}`} />
      </div>
      <div class="td c-name">
        <span class={`bone b-${((row * 7) % WIDTHS) + 3}`} />
      </div>
      <div class="td c-tag">
        <span class="bone b-pill" />
      </div>
      <div class="td c-upd">
        <span class="bone b-2" />
      </div>
    </div>
  );
}
