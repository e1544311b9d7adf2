// The edit of one plant in the drawer. Unsaved edits are kept while the session lasts.

import type { PlantRecord, Versioned } from 'plant-store/client';
import { useEffect, useReducer, useRef, useState } from 'preact/hooks';
import { useTell } from '../frame/notices.tsx';
import { errorText } from '../session/error-text.ts';
import { endsSession, useWorkspace, type Workspace } from '../session/workspace.ts';
import { nameOf } from '../shared/plant-text.tsx';
import { type Draft, editedFields, type Field, type Texts, withDraft } from './merge.ts';
import { readStored, saveEdit, saveResult } from './save-plant.ts';

export interface Conflict {
  base: PlantRecord;
  theirs: Versioned | undefined;
  mine: Texts;
}

/** An edit that is not saved, with the version that the user started from. */
interface Edit {
  base: Versioned;
  draft: Draft;
}

type Edits = Map<bigint, Edit>;

/** Unsaved edits of each session, so that leaving the page drops none. */
const edits = new WeakMap<Workspace['queries'], Edits>();

/** Returns the unsaved edits. The browser asks before the tab closes with some, and the sign-in page lists them. */
function editsOf({ queries, unfinished, ended }: Workspace): Edits {
  const known = edits.get(queries);
  if (known) return known;
  const kept: Edits = new Map();
  edits.set(queries, kept);
  unfinished.add(() => tellUnsaved(kept));
  addEventListener('beforeunload', (event) => tellUnsaved(kept) && event.preventDefault(), { signal: ended });
  return kept;
}

export type PlantEdit = ReturnType<typeof usePlantEdit>;

export function usePlantEdit(id: bigint, stored: Versioned | undefined, onSaved: () => void) {
  const workspace = useWorkspace();
  const { client } = workspace;
  const tell = useTell();
  const [, render] = useReducer((n: number) => n + 1, 0);
  const [isBusy, setBusy] = useState(false);
  const isRunning = useRef(false);
  const [problem, setProblem] = useState('');
  const [conflict, setConflict] = useState<Conflict>();
  const kept = editsOf(workspace);
  const edit = kept.get(id);
  const base = edit?.base ?? stored;
  const edited = edit ? editedFields(edit.base.record, edit.draft) : [];
  const texts = base && withDraft(base.record, edit?.draft ?? {});
  useEffect(
    () => () => {
      const left = kept.get(id);
      if (!left || editedFields(left.base.record, left.draft).length === 0) return;
      tell(
        `The changes to ${nameOf({ id, name: withDraft(left.base.record, left.draft).name })} are not saved. Open it to save them.`,
      );
    },
    [],
  );

  function discard(): void {
    kept.delete(id);
    setProblem('');
    setConflict(undefined);
    render(undefined);
  }

  function finish(message: string): void {
    discard();
    tell(message);
    onSaved();
  }

  /** Does the work once at a time, and shows its error. */
  async function run(work: () => Promise<void>): Promise<void> {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    setProblem('');
    try {
      await work();
    } catch (error) {
      if (!endsSession(error, workspace)) setProblem(errorText(error));
    } finally {
      isRunning.current = false;
      setBusy(false);
    }
  }

  return {
    ...{ texts, edited, isBusy, problem, conflict, discard },
    change(field: Field, value: string | undefined): void {
      if (!base) return;
      kept.set(id, { base, draft: { ...edit?.draft, [field]: value } });
      setProblem('');
      render(undefined);
    },
    async save(): Promise<void> {
      if (!edit || !texts) return;
      if (edited.length === 0) return discard();
      await run(async () => {
        const result = await saveEdit(client, edit.base, texts);
        if (result.kind === 'saved') finish(result.message);
        else setConflict({ base: edit.base.record, theirs: result.theirs, mine: texts });
      });
    },
    /** Saves what the user chose. If the plant has changed again, the dialog shows the newest version. */
    async resolve(result: Texts): Promise<void> {
      if (!conflict) return;
      await run(async () => {
        if (await saveResult(client, id, conflict.theirs, result)) {
          return finish(`Saved ${nameOf({ id, name: result.name })}`);
        }
        setConflict({ ...conflict, theirs: await readStored(client, id) });
        setProblem('The plant has changed again. Check the new version, then save.');
      });
    },
    keepEditing: () => setConflict(undefined),
  };
}

function tellUnsaved(kept: Edits): string {
  const unsaved = [...kept].map(([id, { base, draft }]) => {
    const texts = withDraft(base.record, draft);
    const parts = editedFields(base.record, draft).map(
      (field) => `${field} ${texts[field] === undefined ? 'removed' : `“${texts[field]}”`}`,
    );
    return parts.length > 0 ? `Your changes to plant ${id} are not saved: ${parts.join(', ')}` : '';
  });
  return unsaved.filter(Boolean).join('. ');
}
