// Saves an edited plant. Only the edited fields are sent. If another user saved the plant meanwhile, both edits are kept
// unless they changed the same field.

import { type PlantStoreClient, PlantStoreError, type Versioned } from 'plant-store/client';
import { nameOf } from '../shared/plant-text.tsx';
import { changedBy, conflicts, FIELDS, type Texts, toPatch } from './merge.ts';

/** Number of attempts, because the plant can change again while the edits are merged. */
const MAX_ATTEMPTS = 4;

/** `theirs` is undefined if the plant was deleted. */
export type SaveResult = { kind: 'saved'; message: string } | { kind: 'conflict'; theirs: Versioned | undefined };

/** Saves `mine` over the version that the user saw, or over a newer one that has other changes. */
export async function saveEdit(client: PlantStoreClient, base: Versioned, mine: Texts): Promise<SaveResult> {
  const { id } = base.record;
  let over = base;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const fields = FIELDS.filter((field) => changedBy(field, base.record, over.record, mine) === 'mine');
    if (fields.length === 0 || (await patch(client, over, toPatch(fields, mine)))) {
      return { kind: 'saved', message: savedText(base, over, mine) };
    }
    const theirs = await readStored(client, id);
    if (!theirs || conflicts(base.record, theirs.record, mine).length > 0) return { kind: 'conflict', theirs };
    over = theirs;
  }
  throw new PlantStoreError('unavailable', 'The plant keeps changing. Try again.');
}

/** Saves what the user chose. Returns false if the plant has changed again. */
export async function saveResult(
  client: PlantStoreClient,
  id: bigint,
  theirs: Versioned | undefined,
  result: Texts,
): Promise<boolean> {
  if (!theirs) return unlessOutdated(client.put(id, result, { ifNoneMatch: '*' }));
  const fields = FIELDS.filter((field) => result[field] !== theirs.record[field]);
  return fields.length === 0 || patch(client, theirs, toPatch(fields, result));
}

/** Returns the stored plant, or undefined if it was deleted. */
export async function readStored(client: PlantStoreClient, id: bigint): Promise<Versioned | undefined> {
  try {
    return await client.get(id);
  } catch (error) {
    if (error instanceof PlantStoreError && error.code === 'not_found') return undefined;
    throw error;
  }
}

function patch(client: PlantStoreClient, over: Versioned, fields: ReturnType<typeof toPatch>): Promise<boolean> {
  return unlessOutdated(client.patch(over.record.id, fields, { ifMatch: [over.seq] }));
}

/** True if the write succeeded, false if the plant has another version now. */
async function unlessOutdated(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    const code = error instanceof PlantStoreError ? error.code : undefined;
    if (code === 'condition_failed' || code === 'not_found') return false;
    throw error;
  }
}

function savedText(base: Versioned, over: Versioned, mine: Texts): string {
  const saved = `Saved ${nameOf({ id: base.record.id, name: mine.name })}`;
  const others = FIELDS.filter((field) => changedBy(field, base.record, over.record, mine) === 'theirs');
  return others.length > 0 ? `${saved}. The ${others.join(' and the ')} changed meanwhile: both are kept` : saved;
}
