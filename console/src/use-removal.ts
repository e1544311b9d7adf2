// Deleting a plant at once, with a way back: it is stored again as it was.

import { type NewPlant, type PlantRecord, PlantStoreError } from 'plant-store/client';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { holds, type PlantWindow } from './plant-window.ts';
import { nameOf } from './show.tsx';
import { useToasts } from './toasts.tsx';
import { endsSession, useWorkspace } from './workspace.ts';

/** A second click this soon, after the first one or after the rows moved up, was not meant for the plant that it finds. */
const DOUBLE_CLICK_MS = 450;

/** With a key, the message takes the focus, which was on a row that is gone. */
export type Remove = (record: PlantRecord, isByKey: boolean) => void;

export function useRemoval(shown: PlantWindow | undefined, refresh: () => Promise<void>): Remove {
  const workspace = useWorkspace();
  const { client } = workspace;
  const tell = useToasts();
  const lastMs = useRef(Number.NEGATIVE_INFINITY);
  const underWay = useRef(new Set<bigint>());

  useLayoutEffect(() => {
    if ([...underWay.current].some((id) => !holds(shown, id))) lastMs.current = performance.now();
  }, [shown]);

  return (record, isByKey) => {
    const nowMs = performance.now();
    const isTooSoon = !isByKey && nowMs - lastMs.current < DOUBLE_CLICK_MS;
    if (isTooSoon || underWay.current.has(record.id)) return;
    lastMs.current = nowMs;
    underWay.current.add(record.id);
    void remove(record, isByKey).finally(() => underWay.current.delete(record.id));
  };

  async function remove({ id }: PlantRecord, isByKey: boolean): Promise<void> {
    let found: PlantRecord | undefined;
    try {
      const { record, seq } = await client.get(id);
      found = record;
      await client.delete(id, { ifMatch: [seq] });
      tell(`Deleted ${nameOf(record)}`, { undo: () => void restore(toPlant(record)), takesFocus: isByKey });
    } catch (error) {
      if (!endsSession(error, workspace)) tellFailure(error, found);
    }
    await refresh();
  }

  async function restore(plant: NewPlant): Promise<void> {
    try {
      await client.create(plant);
      tell(`${nameOf(plant)} is back`);
    } catch (error) {
      if (!endsSession(error, workspace)) tell((error as Error).message, { isProblem: true });
    }
    await refresh();
  }

  function tellFailure(error: unknown, record: PlantRecord | undefined): void {
    const code = error instanceof PlantStoreError ? error.code : undefined;
    const isUnknown = code === 'unavailable' && record !== undefined; // the answer was lost, not always the deed
    tell(isUnknown ? `${(error as Error).message}. It may be deleted` : whyNot(error, code), {
      isProblem: true,
      ...(isUnknown && { undo: () => void restore(toPlant(record)) }),
    });
  }
}

function whyNot(error: unknown, code: PlantStoreError['code'] | undefined): string {
  if (code === 'not_found') return 'It is deleted already';
  if (code === 'condition_failed') return 'Somebody has changed it just now: look at it, and delete it again';
  return (error as Error).message;
}

function toPlant({ id, name, tag }: PlantRecord): NewPlant {
  return { id, name, ...(tag !== undefined && { tag }) };
}
