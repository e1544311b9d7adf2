// Deleting a plant at once, with a way back: it is stored again as it was.

import { type NewPlant, type PlantRecord, PlantStoreError } from 'plant-store/client';
import { useRef } from 'preact/hooks';
import { nameOf } from './show.tsx';
import { useToasts } from './toasts.tsx';
import { endsSession, useWorkspace } from './workspace.ts';

/** With a slow server in between. Its second click needs no answer. */
const DOUBLE_CLICK_MS = 1500;
const CHANGED = 'The plant has changed, so it was not deleted. Check it, then delete it again.';

/** With a key, the message takes the focus from the row, which will be gone. */
export type Remove = (record: PlantRecord, isByKey: boolean) => void;

export function useRemoval(refresh: () => Promise<void>): { remove: Remove; tellMoved(): void } {
  const workspace = useWorkspace();
  const { client } = workspace;
  const tell = useToasts();
  const underWay = useRef(new Set<bigint>());
  const lastMs = useRef(Number.NEGATIVE_INFINITY);

  return {
    remove(record, isByKey) {
      if (underWay.current.has(record.id)) return;
      underWay.current.add(record.id);
      lastMs.current = performance.now();
      const focusFrom = isByKey ? document.activeElement : null;
      void remove(record, focusFrom).finally(() => underWay.current.delete(record.id));
    },
    tellMoved() {
      const isDoubleClick = performance.now() - lastMs.current < DOUBLE_CLICK_MS;
      if (!isDoubleClick)
        tell('The rows have just moved, so nothing was deleted. Check the row, then delete it again.');
    },
  };

  /** Only what somebody saw: under the same id there may be another plant by now. */
  async function remove(seen: PlantRecord, focusFrom: Element | null): Promise<void> {
    let found: PlantRecord | undefined;
    try {
      const { record, seq } = await client.get(seen.id);
      if (isSame(record, seen)) {
        found = record;
        await client.delete(seen.id, { ifMatch: [seq] });
        tell(`Deleted ${nameOf(record)}`, { undo: () => void restore(toPlant(record)), focusFrom });
      } else tell(CHANGED, { isProblem: true });
    } catch (error) {
      if (!endsSession(error, workspace)) tellFailure(error, found);
    }
    await refresh();
  }

  async function restore(plant: NewPlant): Promise<void> {
    try {
      await client.create(plant);
      tell(`Restored ${nameOf(plant)}`);
    } catch (error) {
      if (!endsSession(error, workspace)) tellNotBack(plant, error);
    }
    await refresh();
  }

  function tellNotBack(plant: NewPlant, error: unknown): void {
    const isTaken = error instanceof PlantStoreError && error.code === 'id_taken';
    const why = isTaken ? `id ${plant.id} now belongs to another plant` : (error as Error).message;
    tell(`Cannot restore ${nameOf(plant)}: ${why}`, { isProblem: true, undo: () => void restore(plant) });
  }

  function tellFailure(error: unknown, record: PlantRecord | undefined): void {
    const code = error instanceof PlantStoreError ? error.code : undefined;
    const isUnknown = code === 'unavailable' && record !== undefined; // the answer was lost, not always the deed
    tell(isUnknown ? `The plant may be deleted: ${(error as Error).message}` : whyNot(error, code), {
      isProblem: true,
      ...(isUnknown && { undo: () => void restore(toPlant(record)) }),
    });
  }
}

function whyNot(error: unknown, code: PlantStoreError['code'] | undefined): string {
  if (code === 'not_found') return 'The plant was already deleted';
  if (code === 'condition_failed') return CHANGED;
  return (error as Error).message;
}

function isSame(one: PlantRecord, other: PlantRecord): boolean {
  return one.updated === other.updated && one.name === other.name && one.tag === other.tag;
}

function toPlant({ id, name, tag }: PlantRecord): NewPlant {
  return { id, name, ...(tag !== undefined && { tag }) };
}
