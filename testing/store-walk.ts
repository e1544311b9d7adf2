// What the cases of a store share.

import assert from 'node:assert/strict';
import type { ErrorCode, PlantStoreError } from '../src/domain/errors.ts';
import { nameKey } from '../src/domain/name-search.ts';
import type { SORTS } from '../src/domain/names.ts';
import type { ListQuery, PlantRecord, PlantStore } from '../src/domain/plant.ts';

/** Returns the records of all pages. */
export async function walk(store: PlantStore, query: ListQuery): Promise<PlantRecord[]> {
  const records: PlantRecord[] = [];
  let { cursor, offset } = query;
  do {
    const page = await store.list({ ...query, cursor, offset });
    records.push(...page.records);
    cursor = page.next;
    offset = undefined;
  } while (cursor !== undefined);
  return records;
}

export async function refuses(code: ErrorCode, promise: Promise<unknown>): Promise<PlantStoreError> {
  let error: unknown;
  await assert.rejects(promise, (thrown: PlantStoreError) => {
    error = thrown;
    assert.equal(thrown.code, code, String(thrown.stack));
    return true;
  });
  return error as PlantStoreError;
}

/** Sorts records by the definition: by the bytes of the folded name or by the time, then by id. */
export function inOrder(records: PlantRecord[], sort: (typeof SORTS)[number]): PlantRecord[] {
  const sorted = records.toSorted((a, b) => {
    const byKey = sort.endsWith('name')
      ? Buffer.compare(Buffer.from(nameKey(a.name)), Buffer.from(nameKey(b.name)))
      : sort.endsWith('updated')
        ? Date.parse(a.updated) - Date.parse(b.updated)
        : 0;
    return byKey || (a.id < b.id ? -1 : 1);
  });
  return sort.startsWith('-') ? sorted.reverse() : sorted;
}
