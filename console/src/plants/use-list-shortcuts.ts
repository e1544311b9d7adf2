// The keys of the list: move through the rows, select, search and filter.

import type { PlantRecord } from 'plant-store/client';
import type { RefObject } from 'preact';
import { useShortcuts } from '../frame/shortcuts.ts';
import type { ListHandle } from './plant-list.tsx';
import { recordAt } from './plant-pages.ts';
import type { RowActions } from './plant-row.tsx';
import type { PlantList } from './use-plant-pages.ts';
import type { Selection } from './use-selection.ts';

interface State {
  list: PlantList;
  handle: RefObject<ListHandle | null>;
  search: RefObject<HTMLInputElement | null>;
  selection: Selection;
  openId: bigint | undefined;
  rowActions: RowActions;
  setFiltering(isOpen: boolean): void;
  setTagging(isOpen: boolean): void;
  setDeleting(isOpen: boolean): void;
  lastRow: { current: number };
}

/** Arrow keys and letters of the list, while no plant is open. */
export function useListShortcuts(state: State, canWrite: boolean): void {
  const { list, handle, search, selection, openId, rowActions, setFiltering, setTagging, setDeleting, lastRow } = state;
  const row = () => Number(document.activeElement?.closest<HTMLElement>('[data-row]')?.dataset.row ?? Number.NaN);
  const move = (by: number) => {
    const from = row();
    const to = Math.max(0, Math.min(list.rows - 1, Number.isNaN(from) ? (handle.current?.first() ?? 0) : from + by));
    lastRow.current = to;
    handle.current?.reveal(to);
    handle.current?.focus(to);
    return to;
  };
  const withRow = (work: (record: PlantRecord, row: number) => void) => () => {
    const record = recordAt(list, row());
    if (record) work(record, row());
  };
  const range = (by: number) => () => {
    const from = recordAt(list, row());
    const to = recordAt(list, move(by));
    selection.add([from, to].filter((one) => one !== undefined));
  };
  useShortcuts({
    '/': () => search.current?.focus(),
    f: () => setFiltering(true),
    Home: () => handle.current?.toTop(),
    End: () => handle.current?.toEnd(),
    'Ctrl+a': () => selection.selectAll(),
  });
  useShortcuts(
    {
      ArrowDown: () => move(1),
      j: () => move(1),
      ArrowUp: () => move(-1),
      k: () => move(-1),
      'Shift+ArrowDown': range(1),
      'Shift+ArrowUp': range(-1),
      x: withRow((record, at) => rowActions.onSelect(record, at, false)),
      c: withRow(rowActions.onCopy),
      ...(canWrite && {
        e: withRow((record) => rowActions.onEdit?.(record)),
        t: () => selection.count > 0 && setTagging(true),
        Delete: () => (selection.count > 0 ? setDeleting(true) : withRow((record) => rowActions.onDelete?.(record))()),
      }),
      ...(selection.count > 0 && { Escape: selection.clear }),
    },
    openId === undefined,
  );
}
