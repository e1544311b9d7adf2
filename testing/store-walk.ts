// What the cases of a store share.

import assert from 'node:assert/strict';
import type { ErrorCode, PlantStoreError } from '../src/domain/errors.ts';
import type { ListQuery, PlantRecord, PlantStore } from '../src/domain/plant.ts';

/** Returns the records of all pages. */
export async function walk(store: PlantStore, query: ListQuery): Promise<PlantRecord[]> {
  const records: PlantRecord[] = [];
  let { cursor } = query;
  do {
    const page = await store.list({ ...query, cursor });
    records.push(...page.records);
    cursor = page.next;
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
