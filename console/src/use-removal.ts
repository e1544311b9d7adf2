// Deletes a plant without confirmation. Undo stores it again with the same id, name and tag.

import { type NewPlant, type PlantRecord, PlantStoreError } from 'plant-store/client';
import { useRef } from 'preact/hooks';
import { nameOf } from './show.tsx';
import { useToasts } from './toasts.tsx';
import { endsSession, useWorkspace } from './workspace.ts';

/** Time for the second click of a double click, on a slow server too. That click shows no message. */
const DOUBLE_CLICK_MS = 1500;
const CHANGED = 'The plant has changed, so it was not deleted. Check it, then delete it again.';

/** If `isByKey` is true, the message takes the focus, because the row disappears. */
export type Remove = (record: PlantRecord, isByKey: boolean) => void;

export function useRemoval(refresh: () => Promise<void>): { remove: Remove; tellMoved(): void } {
  const workspace = useWorkspace();
  const { client } = workspace;
  const tell = useToasts();
  const inFlight = useRef(new Set<bigint>());
  const lastMs = useRef(Number.NEGATIVE_INFINITY);

  return {
    remove(record, isByKey) {
      if (inFlight.current.has(record.id)) return;
      inFlight.current.add(record.id);
      lastMs.current = performance.now();
      const focusFrom = isByKey ? document.activeElement : null;
      void remove(record, focusFrom).finally(() => inFlight.current.delete(record.id));
    },
    tellMoved() {
      const isDoubleClick = performance.now() - lastMs.current < DOUBLE_CLICK_MS;
      if (!isDoubleClick)
        tell('The rows have just moved, so nothing was deleted. Check the row, then delete it again.');
    },
  };

  /** Deletes the plant only if it is still the one that was shown. Another plant may have the id by now. */
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
    // The response was lost, but the server may have deleted the plant.
    const isUnknown = code === 'unavailable' && record !== undefined;
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
