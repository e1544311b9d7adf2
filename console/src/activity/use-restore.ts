// Takes changes back: a deleted plant is created again, an updated one gets its earlier version.

import { useMutation, useQueryClient } from '@tanstack/preact-query';
import type { Change, NewPlant } from 'plant-store/client';
import { useTell } from '../frame/notices.tsx';
import { errorText } from '../session/error-text.ts';
import { endsSession, useWorkspace } from '../session/workspace.ts';
import { nameOf } from '../shared/plant-text.tsx';

/** `undo` restores the opposite. It fails if the plant was changed in between. */
export function useRestore() {
  const workspace = useWorkspace();
  const { client } = workspace;
  const tell = useTell();
  const queries = useQueryClient();

  const report = (error: unknown) => {
    if (!endsSession(error, workspace)) tell(errorText(error), { isProblem: true });
  };
  const take = (action: () => Promise<unknown>, text: string) => () => void action().then(() => tell(text), report);

  const createAgain = useMutation({
    mutationFn: ({ plant }: Change) => client.create(plant),
    onError: report,
    onSuccess({ seq, replayed }, { plant }) {
      const name = nameOf(plant);
      if (replayed) return tell(`${name} exists already`);
      const undo = take(() => client.delete(plant.id, { ifMatch: [seq] }), `Deleted ${name} again`);
      tell(`Restored ${name}`, { undo });
    },
  });

  const putBack = useMutation({
    mutationFn: ({ change, earlier }: { change: Change; earlier: NewPlant }) =>
      client.put(earlier.id, fieldsOf(earlier), { ifMatch: [change.seq] }),
    onError: report,
    onSuccess({ seq }, { change, earlier }) {
      void queries.invalidateQueries({ queryKey: ['past'] });
      const undo = take(
        () => client.put(earlier.id, fieldsOf(change.plant), { ifMatch: [seq] }),
        `Restored the newer version of ${nameOf(change.plant)}`,
      );
      tell(`Restored the version before of ${nameOf(earlier)}`, { undo });
    },
  });

  return { createAgain, putBack };
}

function fieldsOf({ name, tag }: NewPlant) {
  return { name, ...(tag !== undefined && { tag }) };
}
