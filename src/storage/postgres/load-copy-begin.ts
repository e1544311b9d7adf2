// The beginning and the end of a copy: only an empty database, or an earlier copy of the same store, is written to.

import { UserError } from '../../lib/user-error.ts';
import type { ChangeRow } from '../row-mapping.ts';
import { CHANGE, type StoreCopy, toLine } from '../store-copy.ts';
import { COPY_IN_PROGRESS } from './database.ts';
import { storeTokens } from './load-copy-rows.ts';
import type { CopyTarget } from './load-copy-target.ts';
import { toArray } from './pg-array.ts';
import type { Tables } from './qualified-names.ts';
import type { Query } from './transaction.ts';

/** Key of the advisory lock that the functions of the database hold while they number changes. */
const CHANGES_LOCK = 0x504c_4e54;

/** Throws UserError if the database is no copy of this store, or was written to. From then on no node writes to it. */
export async function beginCopy({ tables, run, inTransaction }: CopyTarget, copy: StoreCopy): Promise<void> {
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
        'The database has plants of its own: take an empty one, or a copy that nobody has written to',
      );
    }
    if (copied !== null && !(await isCopyOf(query, tables, copy, isInProgress ? undefined : copied))) {
      throw new UserError('The database holds a copy of another store: take an empty one');
    }
    await query({ text: `DELETE FROM ${tables.copied}` });
    await query({ text: `INSERT INTO ${tables.copied} VALUES ($1, $2)`, values: [COPY_IN_PROGRESS, run] });
    // The tokens now: they tell whose copy it is, also when it is interrupted.
    for (const statement of storeTokens(tables, await Array.fromAsync(copy.tokens()))) await query(statement);
  });
}

/** True if the database has the same last change, or a token of the store, neither of which another one can have. */
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

export function endCopy({ tables, calls, commit }: CopyTarget, copy: StoreCopy): Promise<void> {
  const { lastSeq, prunedTo, skipped } = copy;
  return commit([
    { text: `UPDATE ${tables.numbering} SET pruned_to = $1`, values: [prunedTo] },
    { text: `DELETE FROM ${tables.skipped}` },
    {
      text: `INSERT INTO ${tables.skipped} SELECT * FROM unnest($1::bigint[], $2::bigint[])`,
      values: [toArray(skipped.map(({ first }) => first)), toArray(skipped.map(({ last }) => last))],
    },
    { text: `SELECT ${calls.skip_change_numbers}` }, // the store that was copied may go on giving numbers
    { text: `UPDATE ${tables.copied} SET seq = $1`, values: [lastSeq] },
  ]);
}
