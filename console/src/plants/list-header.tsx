// The header of the list: select all, and sort by a column.

import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../shared/icon.tsx';
import type { Sort } from './plant-query.ts';

interface Props {
  sort: Sort;
  onSort(sort: Sort): void;
  selectAll: { isAll: boolean; isSome: boolean; onChange(): void };
}

const COLUMNS: { class: string; text: string; sort?: 'id' | 'name' | 'updated' }[] = [
  { class: 'c-id', text: 'Id', sort: 'id' },
  { class: 'c-name', text: 'Name', sort: 'name' },
  { class: 'c-tag', text: 'Tag' },
  { class: 'c-upd', text: 'Updated', sort: 'updated' },
  { class: 'c-crt', text: 'Created' },
];

export function ListHeader({ sort, onSort, selectAll }: Props) {
  const box = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (box.current) box.current.indeterminate = selectAll.isSome && !selectAll.isAll;
  });
  return (
    <div class="thead" role="rowgroup">
      <div class="tr" role="row" aria-rowindex={1}>
        <div class="th c-sel" role="columnheader">
          <label class="box">
            <input
              ref={box}
              type="checkbox"
              checked={selectAll.isAll}
              aria-label="Select all plants"
              onClick={selectAll.onChange}
            />
          </label>
        </div>
        {COLUMNS.map((column) => (
          <HeaderCell key={column.class} column={column} sort={sort} onSort={onSort} />
        ))}
      </div>
    </div>
  );
}

function HeaderCell({ column, sort, onSort }: { column: (typeof COLUMNS)[number] } & Pick<Props, 'sort' | 'onSort'>) {
  const { class: name, text, sort: field } = column;
  const isDescending = sort.startsWith('-');
  const isSorted = field !== undefined && sort.replace('-', '') === field;
  const order = isSorted ? (isDescending ? 'descending' : 'ascending') : undefined;
  // Names start with A, times with the newest.
  const next = isSorted ? (isDescending ? field : `-${field}`) : field === 'updated' ? '-updated' : field;
  return (
    <div class={`th ${name}`} role="columnheader" aria-sort={order}>
      {field === undefined ? (
        <span class="th-text">{text}</span>
      ) : (
        <button type="button" onClick={() => onSort(next as Sort)}>
          {text}
          <Icon name={order === undefined ? 'sort' : isDescending ? 'down' : 'up'} />
        </button>
      )}
    </div>
  );
}
