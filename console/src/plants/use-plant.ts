// One stored plant, which follows the changes of the store.

import { useQuery, useQueryClient } from '@tanstack/preact-query';
import { type Change, PlantStoreError } from 'plant-store/client';
import { useRef } from 'preact/hooks';
import { reloadQuery } from '../session/queries.ts';
import { useLive, useWorkspace } from '../session/workspace.ts';
import { historyKey } from './plant-history.tsx';

/** Returns the plant and its last change. If the plant was deleted, the last change is the deletion. */
export function usePlant(id: bigint) {
  const { client } = useWorkspace();
  const queries = useQueryClient();
  const plantKey = ['plant', String(id)];
  const {
    data: stored,
    error,
    isError,
  } = useQuery({
    queryKey: plantKey,
    queryFn: ({ signal }) => client.get(id, { signal }),
  });
  const { data: history } = useQuery({
    queryKey: [...plantKey, 'last'],
    queryFn: ({ signal }) => client.history(id, { limit: 1 }, { signal }),
    enabled: stored !== undefined,
  });
  const deletion = useRef<Change>(undefined);
  const reload = () => {
    void reloadQuery(queries, plantKey);
    void reloadQuery(queries, historyKey(id));
  };
  useLive((change) => {
    if (change && change.plant.id !== id) return;
    if (change?.type === 'plant.deleted') deletion.current = change;
    reload();
  });
  const isGone = isError && error instanceof PlantStoreError && error.code === 'not_found';
  return {
    stored: isGone ? undefined : stored,
    last: isGone ? deletion.current : history?.changes[0],
    error: isError ? error : undefined,
    reload,
  };
}
