// Actions on plants with a notice and Undo: delete, set a tag, copy an id.

import { type PlantRecord, PlantStoreError } from 'plant-store/client';
import { useRef, useState } from 'preact/hooks';
import { type Tell, useTell } from '../frame/notices.tsx';
import { errorText } from '../session/error-text.ts';
import { endsSession, useWorkspace, type Workspace } from '../session/workspace.ts';
import { useCopy } from '../shared/copy.tsx';
import { count } from '../shared/numbers.ts';
import { nameOf, tagText } from '../shared/plant-text.tsx';
import { deletePlant, type Outcome, setTag, toPlant, unsetTags, writeAll } from './plant-writes.ts';

/** A write to many plants that is in progress. */
export interface Progress {
  what: string;
  done: number;
  total: number;
  cancel(): void;
}

interface Context {
  workspace: Workspace;
  tell: Tell;
  refresh(): Promise<void>;
  show(progress: Progress | undefined): void;
}

const PROGRESS_MS = 100;

export function usePlantActions(refresh: () => Promise<void>) {
  const tell = useTell();
  const [progress, show] = useState<Progress>();
  const copy = useCopy();
  const inFlight = useRef(new Set<bigint>());
  const context: Context = { workspace: useWorkspace(), tell, refresh, show };
  return {
    progress,
    /** Deletes one plant without confirmation. A second click does nothing. */
    async remove(record: PlantRecord): Promise<void> {
      if (inFlight.current.has(record.id)) return;
      inFlight.current.add(record.id);
      await remove(record, context).finally(() => inFlight.current.delete(record.id));
    },
    removeAll: (records: PlantRecord[]) => removeAll(records, context),
    tagAll: (records: PlantRecord[], tag: string | undefined) => tagAll(records, tag, context),
    copyId: ({ id }: PlantRecord) => void copy(String(id), `Copied id ${id}`),
  };
}

async function remove(record: PlantRecord, context: Context): Promise<void> {
  const { workspace, tell, refresh } = context;
  try {
    const found = await deletePlant(workspace.client, record);
    tell(`Deleted ${nameOf(found)}`, { undo: () => void restore([found], context) });
  } catch (error) {
    if (endsSession(error, workspace)) return;
    const code = error instanceof PlantStoreError ? error.code : undefined;
    // If the response was lost, the server may have deleted the plant.
    const undo = code === 'unavailable' ? () => void restore([record], context) : undefined;
    tell(whyNot(record, error, code), { isProblem: true, undo });
  }
  await refresh();
}

function whyNot(record: PlantRecord, error: unknown, code: PlantStoreError['code'] | undefined): string {
  if (code === 'not_found') return `${nameOf(record)} was already deleted`;
  if (code === 'condition_failed')
    return 'The plant has changed, so it was not deleted. Check it, then delete it again.';
  return code === 'unavailable' ? `${nameOf(record)} may be deleted. ${errorText(error)}` : errorText(error);
}

async function restore(records: PlantRecord[], context: Context): Promise<void> {
  const { workspace, tell, refresh } = context;
  const undo = () => void restore(records, context);
  const [first] = records;
  const what = records.length === 1 && first ? nameOf(first) : count(records.length, 'plant');
  try {
    const { failed, errors } = await workspace.client.import(records.map(toPlant));
    if (failed === 0) tell(`Restored ${what}`);
    else tell(`${count(failed, 'plant')} not restored. ${errors[0]?.error.message}`, { isProblem: true, undo });
  } catch (error) {
    if (!endsSession(error, workspace)) tell(`${what} not restored. ${errorText(error)}`, { isProblem: true, undo });
  }
  await refresh();
}

async function removeAll(records: PlantRecord[], context: Context): Promise<void> {
  const { client } = context.workspace;
  const outcome = await run('Deleting', records, (record) => deletePlant(client, record), context);
  const { done } = outcome;
  context.tell(`Deleted ${count(done.length, 'plant')}${exceptions(outcome)}`, {
    isProblem: isIncomplete(outcome),
    ...(done.length > 0 && { undo: () => void restore(done, context) }),
  });
  await context.refresh();
}

async function tagAll(records: PlantRecord[], tag: string | undefined, context: Context): Promise<void> {
  const { tell, refresh, workspace } = context;
  const outcome = await run('Changing', records, ({ id }) => setTag(workspace.client, id, tag), context);
  const { done } = outcome;
  const what = tag === undefined ? 'Removed the tag of' : `Set the tag “${tagText(tag)}” of`;
  const undo = async () => {
    try {
      tell(`Set the old tag of ${count(await unsetTags(workspace.client, done), 'plant')} again`);
    } catch (error) {
      if (!endsSession(error, workspace)) tell(errorText(error), { isProblem: true, undo: () => void undo() });
    }
    await refresh();
  };
  tell(`${what} ${count(done.length, 'plant')}${exceptions(outcome)}`, {
    isProblem: isIncomplete(outcome),
    ...(done.length > 0 && { undo: () => void undo() }),
  });
  await refresh();
}

/** Writes to all plants and shows the progress. */
async function run<T>(
  what: string,
  records: PlantRecord[],
  write: (record: PlantRecord) => Promise<T>,
  { show }: Context,
): Promise<Outcome<T>> {
  const stopping = new AbortController();
  let shownMs = Number.NEGATIVE_INFINITY;
  const onProgress = (done: number) => {
    if (performance.now() - shownMs < PROGRESS_MS) return;
    shownMs = performance.now();
    show({ what, done, total: records.length, cancel: () => stopping.abort() });
  };
  onProgress(0);
  const outcome = await writeAll(records, write, { signal: stopping.signal, onProgress });
  show(undefined);
  return outcome;
}

function exceptions({ changed, gone, left, error }: Outcome<unknown>): string {
  const parts = [
    changed > 0 && `${count(changed, 'plant')} changed meanwhile and ${changed === 1 ? 'was' : 'were'} left alone`,
    gone > 0 && `${count(gone, 'plant')} had already been deleted`,
    left > 0 && `${count(left, 'plant')} left as before`,
    error && errorText(error),
  ].filter(Boolean);
  return parts.length > 0 ? `. ${parts.join('. ')}` : '';
}

function isIncomplete({ changed, gone, left, error }: Outcome<unknown>): boolean {
  return changed + gone + left > 0 || error !== undefined;
}
