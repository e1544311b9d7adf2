// What the page of plants shows and what its parts do: the list, the selection and the open plant.

import type { PlantRecord } from 'plant-store/client';
import { useMemo, useRef, useState } from 'preact/hooks';
import { useTell } from '../frame/notices.tsx';
import { errorText } from '../session/error-text.ts';
import { useSummary } from '../session/queries.ts';
import { useIsOffline, useWorkspace } from '../session/workspace.ts';
import { number } from '../shared/numbers.ts';
import { leaveView, openViewOver, replaceView, useView } from '../view.ts';
import type { ListHandle } from './plant-list.tsx';
import { recordAt, rowOf } from './plant-pages.ts';
import { toFilter, toId, toParameters, usePlantQuery } from './plant-query.ts';
import type { RowActions } from './plant-row.tsx';
import { useListShortcuts } from './use-list-shortcuts.ts';
import { usePlantActions } from './use-plant-actions.ts';
import { usePlantPages } from './use-plant-pages.ts';
import { useSelection } from './use-selection.ts';

const MOVED = 'The rows have just moved, so nothing was deleted. Check the row, then delete it again.';

export type PlantsState = ReturnType<typeof usePlantsState>;

export function usePlantsState() {
  const { parameters } = useView();
  const { client, can } = useWorkspace();
  const isOffline = useIsOffline();
  const tell = useTell();
  const [query, change] = usePlantQuery();
  const handle = useRef<ListHandle>(null);
  const search = useRef<HTMLInputElement>(null);
  const [isLive, setLive] = useState(true);
  const [isFiltering, setFiltering] = useState(false);
  const [isTagging, setTagging] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const [isSelecting, setSelecting] = useState(false);
  const [edited, setEdited] = useState<{ id: bigint; field: 'name' | 'tag' }>();
  const list = usePlantPages(query, { isLive, mayMove: () => handle.current?.mayMove() ?? true });
  const selection = useSelection(JSON.stringify(query), list.rows);
  const actions = usePlantActions(list.reload);
  const summary = useSummary();
  const openId = toId(parameters.get('id') ?? '');
  const editing = edited?.id === openId ? edited?.field : undefined;
  const openRow = openId === undefined ? undefined : rowOf(list, openId);
  const lastRow = useRef(0);
  if (openRow !== undefined) lastRow.current = openRow;
  const canWrite = can('plants:write') && !isOffline;

  function open(id: bigint, field?: 'name' | 'tag'): void {
    setEdited(field && { id, field });
    (openId === undefined ? openViewOver : replaceView)('plants', { ...toParameters(query), id: String(id) });
  }
  function close(): void {
    setEdited(undefined);
    leaveView('plants', toParameters(query));
    handle.current?.focus(lastRow.current);
  }
  function step(by: number): (() => void) | undefined {
    const row = openRow === undefined ? undefined : openRow + by;
    const next = row === undefined ? undefined : recordAt(list, row);
    if (row === undefined || !next) return undefined;
    return () => {
      handle.current?.reveal(row);
      open(next.id);
    };
  }
  function select(record: PlantRecord, row: number, isRange: boolean): void {
    if (isRange && selection.count > 0 && !selection.isAll) {
      const [from, to] = [lastRow.current, row].sort((a, b) => a - b) as [number, number];
      const between = Array.from({ length: to - from + 1 }, (_, index) => recordAt(list, from + index));
      selection.add(between.filter((one) => one !== undefined));
    } else selection.toggle(record);
    lastRow.current = row;
  }
  async function selected(): Promise<PlantRecord[]> {
    if (!selection.isAll) return [...selection.records.values()];
    const records: PlantRecord[] = [];
    for await (const record of client.walk(toFilter(query))) records.push(record);
    return records;
  }
  /** Does the work for the selected plants, then ends the selection. */
  function withSelected(work: (records: PlantRecord[]) => Promise<void> | void): void {
    void selected()
      .then(work)
      .then(selection.clear)
      .catch((error) => tell(errorText(error), { isProblem: true }));
  }

  const rowActions = useMemo<RowActions>(
    () => ({
      onOpen: (record, row) => (isSelecting ? select(record, row, false) : open(record.id)),
      onSelect: select,
      onCopy: actions.copyId,
      ...(canWrite && {
        onEdit: (record: PlantRecord) => open(record.id, 'name'),
        onDelete: (record: PlantRecord) => (list.haveMoved() ? tell(MOVED) : void actions.remove(record)),
      }),
    }),
    [query, selection, canWrite, list, isSelecting],
  );
  const state = {
    ...{ list, query, change, handle, search, selection, actions, openId, editing, rowActions, summary },
    ...{ isLive, setLive, isFiltering, setFiltering, isTagging, setTagging, isDeleting, setDeleting },
    ...{ isSelecting, setSelecting, open, close, step, select, withSelected, lastRow },
    setEditing: (field: 'name' | 'tag' | undefined) =>
      setEdited(field && openId !== undefined ? { id: openId, field } : undefined),
    total: summary?.plants,
    place: openRow === undefined || list.isMore ? undefined : `${number(openRow + 1)} of ${number(list.rows)}`,
    deleteOpen(record: PlantRecord) {
      const next = step(1) ?? step(-1) ?? close;
      next();
      void actions.remove(record);
    },
  };
  useListShortcuts(state, canWrite);
  return state;
}
