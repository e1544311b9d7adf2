// Loads the rows of a store into a PostgreSQL database, with the same change numbers and times. A second run loads
// later additions, or resumes an interrupted run. No node writes to the database during a copy.

import { charsOf } from '../../domain/page-size.ts';
import { UserError } from '../../lib/user-error.ts';
import type { ChangeRow } from '../row-mapping.ts';
import {
  CHANGE,
  type CopiedToken,
  type Difference,
  differences,
  type Fingerprint,
  fingerprint,
  PLANT,
  type StoreCopy,
  toLine,
} from '../store-copy.ts';
import { addChangeTimes } from './change-times.ts';
import { COPY_IN_PROGRESS } from './database.ts';
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
import type { Statement } from './statement.ts';
import type { Query } from './transaction.ts';

const CHARS_AT_ONCE = 256 * 1024;
/** Key of the advisory lock that the database functions hold while they number changes. */
const CHANGES_LOCK = 0x504c_4e54;
/** Number of times that each row is read: once to load it, and once on each side for the final comparison. */
export const PASSES = 3;

/** Copies the store and returns the fingerprint of both sides. Calls `onRow` per row and pass. Throws UserError. */
export async function loadCopy(url: string, copy: StoreCopy, onRow: () => void): Promise<Fingerprint> {
  const target = await openCopyTarget(url);
  try {
    await target.beginReading();
    await beginCopy(target, copy);
    const plants = { wanted: copy.plants(), loaded: target.plants(), columns: PLANT, store: storePlants };
    await loadDifferences(target, { ...plants, key: ({ id }) => id }, onRow);
    const changes = { wanted: copy.changes(), loaded: target.changes(), columns: CHANGE, store: storeChanges };
    await loadDifferences(target, { ...changes, key: ({ seq }) => seq }, onRow);
    const tokens = await Array.fromAsync(copy.tokens());
    await target.commit(storeTokens(target.tables, tokens));
    await target.commit(storeOldSecrets(target.tables, await Array.fromAsync(copy.oldSecrets())));
    await loadWebhooks(target, copy);
    const wanted = await fingerprint(copy, onRow);
    const loaded = await fingerprint(target, onRow);
    if (loaded.sha256 !== wanted.sha256 || !(await hasTokens(target, tokens))) {
      throw new UserError(
        `The copy differs from the store (${JSON.stringify(loaded)}, not ${JSON.stringify(wanted)}). Run the command again.`,
      );
    }
    await endCopy(target, copy);
    return loaded;
  } catch (error) {
    if (error instanceof UserError || failureOf(error) === 'bug') throw error;
    throw new UserError(`The copy was interrupted: ${(error as Error).message}. Run the command again to resume.`);
  } finally {
    await target.close();
  }
}

/** Locks out writes by nodes. Throws UserError if the database is not a copy of this store or was written to. */
async function beginCopy({ tables, run, inTransaction }: CopyTarget, copy: StoreCopy): Promise<void> {
  await inTransaction(async (query) => {
    await query({ text: 'SELECT pg_advisory_xact_lock($1)', values: [CHANGES_LOCK] });
    const [row] = await query<{ given: bigint; copied: bigint | null }>({
      text: `
        SELECT greatest(pruned_to, (SELECT max(seq) FROM ${tables.changes})) AS given, (SELECT seq FROM ${tables.copied}) AS copied
        FROM ${tables.numbering}`,
    });
    const { given = 0n, copied = null } = row ?? {};
    const isInProgress = copied === COPY_IN_PROGRESS;
    if (!isInProgress && given > (copied ?? 0n)) {
      throw new UserError(
        'The database has plants of its own. Use an empty database, or a copy that no server has written to.',
      );
    }
    if (copied !== null && !(await isCopyOf(query, tables, copy, isInProgress ? undefined : copied))) {
      throw new UserError('The database holds a copy of another store. Use an empty database.');
    }
    await query({ text: `DELETE FROM ${tables.copied}` });
    await query({ text: `INSERT INTO ${tables.copied} VALUES ($1, $2)`, values: [COPY_IN_PROGRESS, run] });
    // Tokens come first, because they identify the source of the copy even if the run is interrupted.
    for (const statement of storeTokens(tables, await Array.fromAsync(copy.tokens()))) await query(statement);
  });
}

/** True if the database has the store's last change or one of its tokens. No other store can have either. */
async function isCopyOf(query: Query, tables: Tables, copy: StoreCopy, last: bigint | undefined): Promise<boolean> {
  if (last !== undefined) {
    if (last > BigInt(copy.lastSeq)) return false;
    const text = `SELECT * FROM ${tables.changes} WHERE seq = $1`;
    const [own, other] = [(await query<ChangeRow>({ text, values: [last] }))[0], copy.changeAt(last)];
    if (own && other) return toLine(own, CHANGE) === toLine(other, CHANGE);
  }
  const ids = (await Array.fromAsync(copy.tokens())).map(({ id }) => id);
  const tokens = await query<{ id: string }>({ text: `SELECT id FROM ${tables.tokens}` });
  return tokens.length + ids.length === 0 || tokens.some(({ id }) => ids.includes(id));
}

function endCopy({ tables, calls, commit }: CopyTarget, copy: StoreCopy): Promise<void> {
  const { lastSeq, prunedTo, plantCount, skipped } = copy;
  return commit([
    {
      text: `UPDATE ${tables.numbering} SET pruned_to = $1, plant_count = $2`,
      values: [prunedTo, plantCount],
    },
    { text: `DELETE FROM ${tables.skipped}` },
    {
      text: `INSERT INTO ${tables.skipped} SELECT * FROM unnest($1::bigint[], $2::bigint[])`,
      values: [toArray(skipped.map(({ first }) => first)), toArray(skipped.map(({ last }) => last))],
    },
    { text: addChangeTimes(tables, 'ALL') },
    { text: `SELECT ${calls.skip_change_numbers}` }, // the source store may continue to assign numbers
    { text: `UPDATE ${tables.copied} SET seq = $1`, values: [lastSeq] },
  ]);
}

interface RowKind<Row> {
  /** The rows to load and the existing rows, both by ascending key. */
  wanted: AsyncIterable<Row>;
  loaded: AsyncIterable<Row>;
  key(row: Row): bigint;
  columns: (keyof Row)[];
  store(tables: Tables, batch: Difference<Row>[]): Statement[];
}

async function loadDifferences<Row extends { name: string; tag: string | null }>(
  { tables, commit }: CopyTarget,
  { wanted, loaded, store, ...by }: RowKind<Row>,
  onRow: () => void,
): Promise<void> {
  let batch: Difference<Row>[] = [];
  let chars = 0;
  for await (const difference of differences(counted(wanted, onRow), loaded, by)) {
    batch.push(difference);
    for (const row of [difference.row, difference.old]) if (row) chars += charsOf(row);
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
