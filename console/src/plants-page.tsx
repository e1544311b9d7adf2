// The page for searching, adding, editing and deleting plants.

import type { PlantRecord } from 'plant-store/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { AddDialog } from './add-dialog.tsx';
import { ConflictDialog } from './conflict-dialog.tsx';
import { EditDialog } from './edit-dialog.tsx';
import { holds } from './plant-window.ts';
import { PlantsTable } from './plants-table.tsx';
import { SearchFields } from './search-fields.tsx';
import { nameOf, Problem } from './show.tsx';
import { useToasts } from './toasts.tsx';
import { type Plants, usePlants } from './use-plants.ts';
import { useRemoval } from './use-removal.ts';
import { useTags } from './use-tags.ts';
import { replaceParameters, useView } from './view.ts';
import { useWorkspace } from './workspace.ts';

const TYPING_MS = 150;

type Open = { kind: 'add' } | { kind: 'edit'; id: bigint } | { kind: 'conflict'; id: bigint; mine: PlantRecord };

export function PlantsPage() {
  const { can } = useWorkspace();
  const tell = useToasts();
  const { parameters } = useView();
  const [typed, setTyped] = useState(parameters.get('q') ?? '');
  const [q, setQ] = useState(typed);
  const [tag, setTag] = useState(parameters.get('tag') ?? undefined);
  const [open, setOpen] = useState<Open>();
  const openNow = useRef(open);
  openNow.current = open;
  const plants = usePlants({ q, tag });
  const { tags, reload: reloadTags } = useTags();
  const { remove, tellMoved } = useRemoval(plants.refresh);
  const isWriter = can('plants:write');

  useEffect(() => {
    const timer = setTimeout(() => setQ(typed), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  useEffect(() => replaceParameters('plants', { q: q || undefined, tag }), [q, tag]);
  useEffect(() => {
    setTyped(parameters.get('q') ?? '');
    setTag(parameters.get('tag') ?? undefined);
  }, [parameters]);

  /** Does nothing if the dialog was closed before the response arrived, because another one may be open. */
  function replace(dialog: Open, next: Open | undefined): void {
    setOpen((now) => (now === dialog ? next : now));
  }

  function finish(dialog: Open, message: string): void {
    replace(dialog, undefined);
    void plants.refresh();
    tell(message);
  }

  function conflict(dialog: Open & { kind: 'edit' }, mine: PlantRecord): void {
    if (openNow.current !== dialog)
      tell(`Your changes to ${nameOf(mine)} are not saved: another client changed it first`, { isProblem: true });
    replace(dialog, { kind: 'conflict', id: dialog.id, mine });
  }

  const close = () => setOpen(undefined);
  return (
    <section class="plants" aria-labelledby="plants-title">
      <div class="toolbar">
        <h1 id="plants-title">Plants</h1>
        <SearchFields typed={typed} tag={tag} tags={tags} onType={setTyped} onTag={setTag} onOpenTags={reloadTags} />
        <span role="status" class="count">
          {describeCount(plants)}
        </span>
        {isWriter && (
          <button type="button" class="primary" onClick={() => setOpen({ kind: 'add' })}>
            Add plant
          </button>
        )}
      </div>
      <Problem text={plants.problem} />
      <PlantsTable
        plants={plants}
        isSearch={q.trim() !== '' || tag !== undefined}
        onTag={setTag}
        onEdit={isWriter ? ({ id }) => setOpen({ kind: 'edit', id }) : undefined}
        onDelete={isWriter ? remove : undefined}
        onMoved={tellMoved}
      />
      {open?.kind === 'add' && (
        <AddDialog
          tags={tags}
          onClose={close}
          onOpen={(id) => setOpen({ kind: 'edit', id })}
          onDone={(message) => finish(open, message)}
        />
      )}
      {open?.kind === 'edit' && (
        <EditDialog
          id={open.id}
          tags={tags}
          onClose={close}
          onConflict={(mine) => conflict(open, mine)}
          onDone={(message) => finish(open, message)}
        />
      )}
      {open?.kind === 'conflict' && (
        <ConflictDialog id={open.id} mine={open.mine} onClose={close} onDone={(message) => finish(open, message)} />
      )}
    </section>
  );
}

function describeCount({ window: shown, withId }: Plants): string {
  if (!shown) return '';
  const isExtra = withId && !holds(shown, withId.id);
  const count = shown.count + (isExtra ? 1 : 0);
  return `${count.toLocaleString()}${shown.isEnd ? '' : '+'} ${count === 1 ? 'plant' : 'plants'}`;
}
