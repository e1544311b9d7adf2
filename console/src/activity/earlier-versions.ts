// Finds the version of a plant before an update: in the loaded changes, or in the history of the plant.

import { type QueryClient, useQuery } from '@tanstack/preact-query';
import { type Change, type PlantStoreClient, PlantStoreError } from 'plant-store/client';
import { useWorkspace } from '../session/workspace.ts';

const PAGE = 100;
const MAX_PAGES = 20;

/** Returns the change before each update, by the number of the update. The list must have no gaps. */
export function earlierIn(changes: Change[]): Map<number, Change> {
  const last = new Map<bigint, Change>();
  const earlier = new Map<number, Change>();
  for (const change of changes.toReversed()) {
    const before = last.get(change.plant.id);
    if (before && change.type === 'plant.updated') earlier.set(change.seq, before);
    last.set(change.plant.id, change);
  }
  return earlier;
}

export interface PlantPast {
  /** The change before. Undefined if it was pruned or the plant has been deleted since. */
  earlier?: Change | undefined;
  /** True if no later change of the plant exists. */
  isLatest: boolean;
}

/** Reads the history of the plant. */
export function usePast(change: Change) {
  const { client } = useWorkspace();
  return useQuery<PlantPast>({ ...pastQuery(client, change), enabled: change.type === 'plant.updated' });
}

/** Loads the past of a change into the cache, if it is not there yet. Returns the change before. */
export async function loadEarlier(
  queries: QueryClient,
  client: PlantStoreClient,
  change: Change,
): Promise<Change | undefined> {
  return (await queries.fetchQuery({ ...pastQuery(client, change), staleTime: Number.POSITIVE_INFINITY })).earlier;
}

function pastQuery(client: PlantStoreClient, change: Change) {
  return {
    queryKey: ['past', change.seq],
    queryFn: ({ signal }: { signal: AbortSignal }) => readPast(client, change, signal),
  };
}

async function readPast(client: PlantStoreClient, { seq, plant }: Change, signal: AbortSignal): Promise<PlantPast> {
  let cursor: string | undefined;
  let isLatest = true;
  try {
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      const page = await client.history(plant.id, { limit: PAGE, cursor }, { signal });
      isLatest &&= !page.changes.some((other) => other.seq > seq);
      const earlier = page.changes.find((other) => other.seq < seq);
      if (earlier || page.next === undefined) return { earlier, isLatest };
      cursor = page.next;
    }
  } catch (error) {
    if (!(error instanceof PlantStoreError) || error.code !== 'not_found') throw error;
    isLatest = false;
  }
  return { isLatest };
}
