// All plants: find them, add one, change one, remove one.

import { type NewPlant, type PlantRecord, PlantStoreError } from 'plant-store/client';
import { useEffect, useState } from 'preact/hooks';
import { AddDialog } from './add-dialog.tsx';
import { ConflictDialog } from './conflict-dialog.tsx';
import { EditDialog } from './edit-dialog.tsx';
import { PlantsTable } from './plants-table.tsx';
import { nameOf, Problem } from './show.tsx';
import { useToasts } from './toasts.tsx';
import { usePlants } from './use-plants.ts';
import { useTags } from './use-tags.ts';
import { replaceParameters, useView } from './view.ts';
import { endsSession, useWorkspace } from './workspace.ts';

const TYPING_MS = 150;

type Open = { kind: 'add' } | { kind: 'edit'; id: bigint } | { kind: 'conflict'; id: bigint; mine: PlantRecord };

export function PlantsPage() {
  const workspace = useWorkspace();
  const { client, can } = workspace;
  const tell = useToasts();
  const { parameters } = useView();
  const [typed, setTyped] = useState(parameters.get('q') ?? '');
  const [q, setQ] = useState(typed);
  const [tag, setTag] = useState(parameters.get('tag') ?? undefined);
  const [open, setOpen] = useState<Open>();
  const plants = usePlants({ q, tag });
  const tags = useTags();
  const isWriter = can('plants:write');

  useEffect(() => {
    const timer = setTimeout(() => setQ(typed), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  useEffect(() => replaceParameters('plants', { q, tag }), [q, tag]);
  useEffect(() => {
    setTyped(parameters.get('q') ?? '');
    setTag(parameters.get('tag') ?? undefined);
  }, [parameters]);

  async function remove({ id }: PlantRecord): Promise<void> {
    try {
      const { record, seq } = await client.get(id);
      await client.delete(id, { ifMatch: [seq] });
      plants.refresh();
      const { name, tag } = record;
      const plant = { id, name, ...(tag !== undefined && { tag }) };
      tell(`Deleted ${nameOf(record)}`, { undo: () => void restore(plant) });
    } catch (error) {
      if (!endsSession(error, workspace)) tell(whyNotDeleted(error), { isProblem: true });
      plants.refresh();
    }
  }

  async function restore(plant: NewPlant): Promise<void> {
    try {
      await client.create(plant);
      tell(`${nameOf(plant)} is back`);
      plants.refresh();
    } catch (error) {
      if (!endsSession(error, workspace)) tell((error as Error).message, { isProblem: true });
    }
  }

  const count = plants.window?.count;
  return (
    <section class="plants" aria-labelledby="plants-title">
      <div class="toolbar">
        <h1 id="plants-title">Plants</h1>
        <search>
          <input
            type="search"
            aria-label="Search by words of the name, or by id"
            placeholder="Search name or id"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
          <select
            aria-label="Filter by tag"
            value={tag === undefined ? 'any' : `is ${tag}`}
            onChange={(event) => setTag(toTag(event.currentTarget.value))}
          >
            <option value="any">Any tag</option>
            {[...new Set(tag === undefined ? tags : [tag, ...tags])].map((known) => (
              <option key={known} value={`is ${known}`}>
                {known === '' ? '(empty)' : known}
              </option>
            ))}
          </select>
        </search>
        <span role="status" class="count">
          {count !== undefined &&
            `${count.toLocaleString()}${plants.window?.isEnd ? '' : '+'} ${count === 1 ? 'plant' : 'plants'}`}
        </span>
        {isWriter && (
          <button type="button" class="primary" onClick={() => setOpen({ kind: 'add' })}>
            Add a plant
          </button>
        )}
      </div>
      <Problem text={plants.problem} />
      <PlantsTable
        plants={plants}
        isSearch={q.trim() !== '' || tag !== undefined}
        onTag={setTag}
        onEdit={isWriter ? ({ id }) => setOpen({ kind: 'edit', id }) : undefined}
        onDelete={isWriter ? (record) => void remove(record) : undefined}
      />
      {open?.kind === 'add' && (
        <AddDialog
          tags={tags}
          onClose={() => setOpen(undefined)}
          onOpen={(id) => setOpen({ kind: 'edit', id })}
          onDone={done}
        />
      )}
      {open?.kind === 'edit' && (
        <EditDialog
          id={open.id}
          tags={tags}
          onClose={() => setOpen(undefined)}
          onConflict={(mine) => setOpen({ kind: 'conflict', id: open.id, mine })}
          onDone={done}
        />
      )}
      {open?.kind === 'conflict' && (
        <ConflictDialog id={open.id} mine={open.mine} onClose={() => setOpen(undefined)} onDone={done} />
      )}
    </section>
  );

  function done(message: string): void {
    setOpen(undefined);
    plants.refresh();
    tell(message);
  }
}

/** A tag may be empty, which is not the same as any. */
function toTag(option: string): string | undefined {
  return option === 'any' ? undefined : option.slice('is '.length);
}

function whyNotDeleted(error: unknown): string {
  const code = error instanceof PlantStoreError ? error.code : undefined;
  if (code === 'not_found') return 'Somebody else has deleted it already';
  if (code === 'condition_failed') return 'Somebody has changed it just now: look at it, and delete it again';
  return (error as Error).message;
}
