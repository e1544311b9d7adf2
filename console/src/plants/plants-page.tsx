// The page of plants: search, filters, the list, the selection and the open plant.

import { useEffect, useState } from 'preact/hooks';
import { StatusStrip } from '../frame/notices.tsx';
import { useShortcuts } from '../frame/shortcuts.ts';
import { useIsOffline, useWorkspace } from '../session/workspace.ts';
import { Icon } from '../shared/icon.tsx';
import { download, fileName, toFile } from '../transfer/plant-file.ts';
import { replaceView, useView } from '../view.ts';
import { AddDialog } from './add-dialog.tsx';
import { BulkBar } from './bulk-bar.tsx';
import { FirstRun } from './first-run.tsx';
import { NothingFound } from './nothing-found.tsx';
import { PlantDrawer } from './plant-drawer.tsx';
import { PlantListView } from './plant-list.tsx';
import { isFiltered, toParameters } from './plant-query.ts';
import { ListStatus, PlantsHead, PlantsToolbar } from './plants-head.tsx';
import type { PlantList } from './use-plant-pages.ts';
import { type PlantsState, usePlantsState } from './use-plants-state.ts';

export function PlantsPage() {
  const state = usePlantsState();
  const { list, query, openId } = state;
  const [adding, setAdding] = useAdding();
  const isEmpty = list.isLoaded && list.rows === 0 && !list.problem;
  const isFirstRun = isEmpty && !isFiltered(query);
  const { can } = useWorkspace();
  const canAdd = can('plants:write') && !useIsOffline();
  useShortcuts(canAdd ? { n: () => setAdding({}) } : {});
  return (
    <div class="split">
      <section class={state.isSelecting ? 'list is-selecting' : 'list'} aria-labelledby="title">
        <PlantsHead state={state} onAdd={canAdd ? () => setAdding({}) : undefined} />
        {!isFirstRun && <PlantsToolbar state={state} />}
        <ListProblem list={list} />
        <ListArea
          state={state}
          isFirstRun={isFirstRun}
          isEmpty={isEmpty}
          onAdd={canAdd ? (name) => setAdding({ name }) : undefined}
        />
        {(state.selection.count > 0 || state.actions.progress) && <SelectionBar state={state} />}
        <StatusStrip>{list.isLoaded && !isEmpty && <ListStatus state={state} />}</StatusStrip>
      </section>
      {openId !== undefined && (
        <PlantDrawer
          key={String(openId)}
          id={openId}
          place={state.place}
          editing={state.editing}
          onEditing={state.setEditing}
          onPrevious={state.step(-1)}
          onNext={state.step(1)}
          onClose={state.close}
          onDelete={state.deleteOpen}
          onDuplicate={({ name, tag }) => setAdding({ name, tag })}
          onSaved={() => void list.reload()}
        />
      )}
      {adding && (
        <AddDialog
          name={adding.name}
          tag={adding.tag}
          onClose={() => setAdding(undefined)}
          onOpen={(id) => {
            setAdding(undefined);
            state.open(id);
          }}
          onAdded={() => void list.reload()}
        />
      )}
    </div>
  );
}

/** The texts that the dialog for a new plant starts with. The parameter `add` of the URL opens it as well. */
function useAdding() {
  const { parameters } = useView();
  const [adding, setAdding] = useState<{ name?: string | undefined; tag?: string | undefined }>();
  const name = parameters.get('add');
  useEffect(() => {
    if (name === null) return;
    setAdding({ name });
    parameters.delete('add');
    replaceView('plants', Object.fromEntries([...parameters.keys()].map((key) => [key, parameters.getAll(key)])));
  }, [name]);
  return [adding, setAdding] as const;
}

function ListProblem({ list }: { list: PlantList }) {
  const isOffline = useIsOffline();
  if (isOffline || !list.problem) return null;
  return (
    <div class="banner bad" role="alert">
      <Icon name="bad" />
      <span>{list.problem}</span>
      <button type="button" class="btn s" onClick={() => void list.reload()}>
        Try again
      </button>
    </div>
  );
}

interface AreaProps {
  state: PlantsState;
  isFirstRun: boolean;
  isEmpty: boolean;
  onAdd: ((name: string) => void) | undefined;
}

function ListArea({ state, isFirstRun, isEmpty, onAdd }: AreaProps) {
  const { list, query, change, handle, openId, selection, rowActions, total = 0 } = state;
  if (isFirstRun) return <FirstRun onAdded={() => void list.reload()} />;
  if (isEmpty) {
    return (
      <NothingFound
        q={query.q}
        tags={query.tags}
        isUntagged={query.isUntagged}
        total={total}
        canAdd={onAdd !== undefined}
        onSearch={(q) => change({ q })}
        onClear={() => change({ q: '', tags: [], isUntagged: false })}
        onAdd={(name) => onAdd?.(name)}
        onOpen={(id) => state.open(id)}
      />
    );
  }
  if (list.problem && list.rows === 0) {
    return (
      <div class="empty">
        <p>These plants are not loaded yet.</p>
      </div>
    );
  }
  const isAll = selection.isAll || (selection.count > 0 && selection.count === list.rows);
  return (
    <PlantListView
      list={list}
      sort={list.sort}
      onSort={(sort) => change({ sort })}
      openId={openId}
      selected={selection}
      selectAll={{
        isAll,
        isSome: selection.count > 0,
        onChange: isAll ? selection.clear : selection.selectAll,
      }}
      parameters={toParameters(query)}
      actions={rowActions}
      handle={handle}
    />
  );
}

function SelectionBar({ state }: { state: PlantsState }) {
  const { selection, list, actions, isTagging, setTagging, isDeleting, setDeleting, withSelected } = state;
  return (
    <BulkBar
      selection={selection}
      rows={list.rows}
      isMore={list.isMore}
      progress={actions.progress}
      isTagging={isTagging}
      onTagging={setTagging}
      onTag={(tag) => withSelected((records) => actions.tagAll(records, tag))}
      onExport={() =>
        withSelected((records) => download(toFile(records, 'text/csv'), fileName('text/csv', 'selected-plants')))
      }
      onDelete={() => withSelected(actions.removeAll)}
      isDeleting={isDeleting}
      onDeleting={setDeleting}
    />
  );
}
