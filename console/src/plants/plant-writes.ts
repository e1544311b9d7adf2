// Writes to one or many plants, and how to take them back.

import { type NewPlant, type PlantRecord, type PlantStoreClient, PlantStoreError } from 'plant-store/client';

/** Number of requests at a time. The server would queue more. */
const PARALLEL = 6;

/** Result of a write to many plants. */
export interface Outcome<T> {
  done: T[];
  /** Plants that another user changed meanwhile, so that they were left alone. */
  changed: number;
  /** Plants that do not exist any more. */
  gone: number;
  /** Plants that were not tried, because the user stopped or an error ended the work. */
  left: number;
  /** The first error that ended the work. */
  error?: unknown;
}

/** Does the work for each plant, a few at a time. Stops at the first error that is not about one plant. */
export async function writeAll<T>(
  records: PlantRecord[],
  write: (record: PlantRecord) => Promise<T>,
  { signal, onProgress }: { signal?: AbortSignal; onProgress?(done: number): void } = {},
): Promise<Outcome<T>> {
  const outcome: Outcome<T> = { done: [], changed: 0, gone: 0, left: 0 };
  let next = 0;
  let finished = 0;
  async function work(): Promise<void> {
    for (let record = records[next++]; record && !outcome.error && !signal?.aborted; record = records[next++]) {
      try {
        outcome.done.push(await write(record));
      } catch (error) {
        const code = error instanceof PlantStoreError ? error.code : undefined;
        if (code === 'not_found') outcome.gone++;
        else if (code === 'condition_failed') outcome.changed++;
        else outcome.error ??= error;
      }
      onProgress?.(++finished);
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return { ...outcome, left: records.length - finished };
}

/** Deletes the plant only if it is still the one that was shown. Another plant may have the id by now. */
export async function deletePlant(client: PlantStoreClient, seen: PlantRecord): Promise<PlantRecord> {
  const { record, seq } = await client.get(seen.id);
  if (record.updated !== seen.updated || record.name !== seen.name || record.tag !== seen.tag) {
    throw new PlantStoreError('condition_failed', 'The plant has changed, so it was not deleted.');
  }
  await client.delete(seen.id, { ifMatch: [seq] });
  return record;
}

/** A tag that was set, with what is needed to set the old one again. */
export interface SetTag {
  id: bigint;
  oldTag: string | undefined;
  seq: number;
}

/** Reads the plant first, because its tag may differ from the shown one. */
export async function setTag(client: PlantStoreClient, id: bigint, tag: string | undefined): Promise<SetTag> {
  const { record, seq: seen } = await client.get(id);
  const { seq } = await client.patch(id, { tag: tag ?? null }, { ifMatch: [seen] });
  return { id, oldTag: record.tag, seq };
}

/** Sets the old tags again, except where the plant has changed since. Returns the number that were set. */
export async function unsetTags(client: PlantStoreClient, tags: SetTag[]): Promise<number> {
  let done = 0;
  for (const { id, oldTag, seq } of tags) {
    try {
      await client.patch(id, { tag: oldTag ?? null }, { ifMatch: [seq] });
      done++;
    } catch (error) {
      const isSkipped = error instanceof PlantStoreError && ['not_found', 'condition_failed'].includes(error.code);
      if (!isSkipped) throw error;
    }
  }
  return done;
}

export function toPlant({ id, name, tag }: PlantRecord): NewPlant {
  return { id, name, ...(tag !== undefined && { tag }) };
}

/** Returns the lowest unused id above the highest used one that leaves room, or undefined. */
export async function nextFreeId(client: PlantStoreClient): Promise<bigint | undefined> {
  const { records } = await client.list({ sort: '-id', limit: 100 });
  const used = new Set(records.map(({ id }) => id));
  if (records.length === 0) return 1n;
  const free = records.map(({ id }) => id + 1n).find((id) => !used.has(id) && BigInt.asIntN(64, id) === id);
  return free;
}
