// One plant beside the list: edit in place, history, copy as code. On a phone it is a page.

import { type Change, type PlantRecord, PlantStoreError } from 'plant-store/client';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useShortcuts } from '../frame/shortcuts.ts';
import { errorText } from '../session/error-text.ts';
import { useTokenNames } from '../session/queries.ts';
import { useIsOffline, useWorkspace } from '../session/workspace.ts';
import { useCopy } from '../shared/copy.tsx';
import { Confirm } from '../shared/dialog.tsx';
import { Keys } from '../shared/icon.tsx';
import { count } from '../shared/numbers.ts';
import { Menu, type MenuItem } from '../shared/popover.tsx';
import { ConflictDialog } from './conflict-dialog.tsx';
import { CopyAs } from './copy-as.tsx';
import { DrawerHead } from './drawer-head.tsx';
import { PlantFacts } from './plant-facts.tsx';
import { PlantHistory } from './plant-history.tsx';
import { RestoreDialog } from './restore-dialog.tsx';
import { usePlant } from './use-plant.ts';
import { type PlantEdit, usePlantEdit } from './use-plant-edit.ts';

interface Props {
  id: bigint;
  /** Place in the list, such as "2 of 2,207". */
  place: string | undefined;
  /** A field to edit at once. */
  editing: 'name' | 'tag' | undefined;
  onEditing(field: 'name' | 'tag' | undefined): void;
  onPrevious: (() => void) | undefined;
  onNext: (() => void) | undefined;
  onClose(): void;
  onDelete(record: PlantRecord): void;
  onDuplicate(record: PlantRecord): void;
  onSaved(): void;
}

export function PlantDrawer(props: Props) {
  const { id, place, editing, onEditing, onPrevious, onNext, onClose, onDelete, onDuplicate, onSaved } = props;
  const { can } = useWorkspace();
  const isOffline = useIsOffline();
  const { stored, last, error, reload } = usePlant(id);
  const edit = usePlantEdit(id, stored, () => {
    onEditing(undefined);
    reload();
    onSaved();
  });
  const [restoring, setRestoring] = useState<Change>();
  const [leaving, setLeaving] = useState<() => void>();
  const canWrite = can('plants:write') && !isOffline;
  const record = stored?.record;
  const drawer = useRef<HTMLElement>(null);
  const copy = useCopy();
  const copyId = () => void copy(String(id), `Copied id ${id}`);

  /** Asks before an unsaved edit is left. */
  function asking(go: (() => void) | undefined): (() => void) | undefined {
    return go && (() => (edit.edited.length > 0 ? setLeaving(() => go) : go()));
  }

  // The focus was in the plant that this one replaces, or in the list, which a phone hides.
  useLayoutEffect(() => {
    const { activeElement } = document;
    const isLost = activeElement === document.body || !activeElement?.checkVisibility({ visibilityProperty: true });
    if (isLost) drawer.current?.focus({ preventScroll: true });
  }, []);
  useShortcuts({
    ...(canWrite &&
      record && { e: () => onEditing('name'), t: () => onEditing('tag'), Delete: () => onDelete(record) }),
    ...(record && { c: copyId }),
    'Ctrl+Enter': () => void edit.save(),
    ArrowDown: () => asking(onNext)?.(),
    j: () => asking(onNext)?.(),
    ArrowUp: () => asking(onPrevious)?.(),
    k: () => asking(onPrevious)?.(),
    Escape: () => asking(onClose)?.(),
  });

  return (
    <aside class="drawer" ref={drawer} tabIndex={-1} aria-label={`Plant ${id}`}>
      <DrawerHead
        place={place}
        onPrevious={asking(onPrevious)}
        onNext={asking(onNext)}
        onClose={asking(onClose) ?? onClose}
      >
        {record && (
          <Menu label="More actions" items={menuItems(record, canWrite, { onCopy: copyId, onDelete, onDuplicate })} />
        )}
      </DrawerHead>
      <div class="drawer-body">
        {error && <Missing id={id} error={error} onRetry={reload} />}
        {record && (
          <PlantFacts record={record} last={last} edit={edit} canWrite={canWrite} {...{ editing, onEditing }} />
        )}
        {record && <PlantHistory id={id} onRestore={canWrite ? setRestoring : undefined} />}
        {record && <CopyAs id={id} />}
      </div>
      {edit.edited.length > 0 ? <SaveBar edit={edit} isOffline={isOffline} /> : <DrawerKeys canWrite={canWrite} />}
      <EditConflict
        id={id}
        edit={edit}
        last={last}
        onDiscarded={() => {
          onEditing(undefined);
          reload();
        }}
      />
      {restoring && stored && (
        <RestoreDialog
          stored={stored}
          version={restoring}
          onClose={() => setRestoring(undefined)}
          onDone={() => {
            setRestoring((now) => (now === restoring ? undefined : now));
            reload();
            onSaved();
          }}
        />
      )}
      {leaving && (
        <LeaveDialog
          edit={edit}
          onClose={() => setLeaving(undefined)}
          onLeave={() => {
            onEditing(undefined);
            setLeaving(undefined);
            leaving();
          }}
        />
      )}
    </aside>
  );
}

function menuItems(
  record: PlantRecord,
  canWrite: boolean,
  { onCopy, onDelete, onDuplicate }: Pick<Props, 'onDelete' | 'onDuplicate'> & { onCopy(): void },
): MenuItem[] {
  return [
    { icon: 'copy', text: 'Copy id', onClick: onCopy },
    ...(canWrite
      ? [
          { icon: 'plus', text: 'Duplicate', onClick: () => onDuplicate(record) },
          { icon: 'trash', text: 'Delete', isDanger: true, onClick: () => onDelete(record) },
        ]
      : []),
  ];
}

function EditConflict(props: { id: bigint; edit: PlantEdit; last: Change | undefined; onDiscarded(): void }) {
  const { id, edit, last, onDiscarded } = props;
  const nameOfToken = useTokenNames();
  if (!edit.conflict) return null;
  return (
    <ConflictDialog
      id={id}
      conflict={edit.conflict}
      who={last && nameOfToken(last)}
      isBusy={edit.isBusy}
      problem={edit.problem}
      onSave={(result) => void edit.resolve(result)}
      onKeepEditing={edit.keepEditing}
      onDiscard={() => {
        edit.discard();
        onDiscarded();
      }}
    />
  );
}

function LeaveDialog({ edit, onLeave, onClose }: { edit: PlantEdit; onLeave(): void; onClose(): void }) {
  return (
    <Confirm
      title={`Discard ${count(edit.edited.length, 'unsaved change')}?`}
      action="Discard"
      onClose={onClose}
      onConfirm={() => {
        edit.discard();
        onLeave();
      }}
    >
      <p>The {edit.edited.join(' and the ')} of this plant would stay as it is in the store.</p>
    </Confirm>
  );
}

function Missing({ id, error, onRetry }: { id: bigint; error: Error; onRetry(): void }) {
  const isGone = error instanceof PlantStoreError && error.code === 'not_found';
  return (
    <div class="drawer-empty">
      <p>{isGone ? `No plant has id ${id}. It may have been deleted: Activity shows by whom.` : errorText(error)}</p>
      {!isGone && (
        <button type="button" class="btn s" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

function SaveBar({ edit, isOffline }: { edit: PlantEdit; isOffline: boolean }) {
  return (
    <footer class="save-bar">
      <b>{count(edit.edited.length, 'unsaved change')}</b>
      <div class="grow" />
      <button type="button" class="btn" onClick={edit.discard}>
        Discard
      </button>
      <button type="button" class="btn primary" disabled={edit.isBusy || isOffline} onClick={() => void edit.save()}>
        Save <Keys of={['Ctrl ↵']} />
      </button>
    </footer>
  );
}

function DrawerKeys({ canWrite }: { canWrite: boolean }) {
  return (
    <footer class="drawer-keys" aria-hidden="true">
      <span>
        <Keys of={['↑', '↓']} /> Next plant
      </span>
      {canWrite && (
        <>
          <span>
            <Keys of={['E']} /> Edit
          </span>
          <span>
            <Keys of={['Del']} /> Delete
          </span>
        </>
      )}
      <span>
        <Keys of={['Esc']} /> Close
      </span>
    </footer>
  );
}
