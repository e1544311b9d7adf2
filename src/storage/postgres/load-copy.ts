// A store as rows → a database of PostgreSQL that holds the same, also its numbers and times. A second run loads what was
// added since, or resumes a run that was interrupted. No node writes to the database meanwhile.

import { UserError } from '../../lib/user-error.ts';
import type { ChangeRow } from '../row-mapping.ts';
import {
  CHANGE,
  type CopiedPlant,
  type CopiedToken,
  charsIn,
  type Difference,
  differences,
  type Fingerprint,
  fingerprint,
  PLANT,
  type StoreCopy,
} from '../store-copy.ts';
import { beginCopy, endCopy } from './load-copy-begin.ts';
import {
  storeChanges,
  storeDeliveries,
  storeOldSecrets,
  storePlants,
  storeTokens,
  storeWebhooks,
} from './load-copy-rows.ts';
import { type CopyTarget, openCopyTarget, ROWS_AT_ONCE } from './load-copy-target.ts';
import { toArray } from './pg-array.ts';
import { failureOf } from './pg-errors.ts';
import type { Tables } from './qualified-names.ts';
import type { Statement } from './transaction.ts';

const CHARS_AT_ONCE = 256 * 1024;
/** Number of times that each row is read: once to load it, and once on each side to compare them in the end. */
export const PASSES = 3;

/** Returns what both hold in the end. `onRow` is called for every row in each pass. Throws UserError. */
export async function loadCopy(url: string, copy: StoreCopy, onRow: () => void): Promise<Fingerprint> {
  const target = await openCopyTarget(url);
  try {
    await target.connect();
    await beginCopy(target, copy);
    await loadDifferences(target, counted(copy.plants(), onRow), target.plants(), {
      store: storePlants,
      key: ({ id }: CopiedPlant) => id,
      columns: PLANT,
    });
    await loadDifferences(target, counted(copy.changes(), onRow), target.changes(), {
      store: storeChanges,
      key: ({ seq }: ChangeRow) => seq,
      columns: CHANGE,
    });
    const tokens = await Array.fromAsync(copy.tokens());
    await target.commit(storeTokens(target.tables, tokens));
    await target.commit(storeOldSecrets(target.tables, await Array.fromAsync(copy.oldSecrets())));
    await loadWebhooks(target, copy);
    const wanted = await fingerprintOf(copy, onRow);
    const loaded = await fingerprintOf(target, onRow);
    if (loaded.sha256 !== wanted.sha256 || !(await hasTokens(target, tokens))) {
      throw new UserError(
        `The copy is not the same (${JSON.stringify(loaded)}, not ${JSON.stringify(wanted)}): run it again`,
      );
    }
    await endCopy(target, copy);
    return loaded;
  } catch (error) {
    if (error instanceof UserError || failureOf(error) === 'bug') throw error;
    throw new UserError(`The copy was broken off: ${(error as Error).message}; run it again to go on`);
  } finally {
    await target.close();
  }
}

interface RowKind<Row> {
  store(tables: Tables, batch: Difference<Row>[]): Statement[];
  key(row: Row): bigint | string;
  columns: (keyof Row)[];
}

async function loadDifferences<Row extends { name: string; tag: string | null }>(
  { tables, commit }: CopyTarget,
  wanted: AsyncIterable<Row>,
  loaded: AsyncIterable<Row>,
  { store, ...by }: RowKind<Row>,
): Promise<void> {
  let batch: Difference<Row>[] = [];
  let chars = 0;
  for await (const difference of differences(wanted, loaded, by)) {
    batch.push(difference);
    chars += charsIn(difference);
    if (batch.length < ROWS_AT_ONCE && chars < CHARS_AT_ONCE) continue;
    await commit(store(tables, batch));
    batch = [];
    chars = 0;
  }
  if (batch.length > 0) await commit(store(tables, batch));
}

async function loadWebhooks({ tables, commit }: CopyTarget, copy: StoreCopy): Promise<void> {
  await commit(storeWebhooks(tables, await Array.fromAsync(copy.webhooks())));
  let batch = [];
  for await (const delivery of copy.deliveries()) {
    if (batch.push(delivery) < ROWS_AT_ONCE) continue;
    await commit(storeDeliveries(tables, batch));
    batch = [];
  }
  if (batch.length > 0) await commit(storeDeliveries(tables, batch));
}

type Rows = Pick<StoreCopy, 'plants' | 'changes' | 'webhooks' | 'deliveries'>;

function fingerprintOf(rows: Rows, onRow: () => void): Promise<Fingerprint> {
  return fingerprint({
    plants: counted(rows.plants(), onRow),
    changes: counted(rows.changes(), onRow),
    webhooks: rows.webhooks(),
    deliveries: rows.deliveries(),
  });
}

async function* counted<Row>(rows: AsyncIterable<Row>, onRow: () => void): AsyncGenerator<Row> {
  for await (const row of rows) {
    onRow();
    yield row;
  }
}

async function hasTokens({ tables, query }: CopyTarget, tokens: CopiedToken[]): Promise<boolean> {
  const text = `
    SELECT FROM unnest($1::text[], $2::text[]) AS sent (id, secret_hash)
    WHERE EXISTS (SELECT FROM ${tables.tokens} t WHERE t.id = sent.id AND t.secret_hash = sent.secret_hash)
      OR EXISTS (SELECT FROM ${tables.old_secrets} o WHERE o.token_id = sent.id AND o.secret_hash = sent.secret_hash)`;
  const values = [toArray(tokens.map(({ id }) => id)), toArray(tokens.map(({ secret_hash }) => secret_hash))];
  return (await query({ text, values })).length === tokens.length;
}
