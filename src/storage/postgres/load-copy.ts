// A store as rows → a database of PostgreSQL that holds the same, also its numbers and times. A second run brings over
// what has come since, or goes on where the first one was broken off. No node writes to the database meanwhile.

import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { UserError } from '../../lib/user-error.ts';
import type { ChangeRow } from '../row-mapping.ts';
import {
  CHANGE,
  type CopiedDelivery,
  type CopiedPlant,
  type CopiedToken,
  type CopiedWebhook,
  charsIn,
  type Difference,
  differences,
  type Fingerprint,
  fingerprint,
  PLANT,
  type StoreCopy,
  toLine,
} from '../store-copy.ts';
import { clientConfig, prepareDatabase, UNDER_WAY } from './database.ts';
import {
  storeChanges,
  storeDeliveries,
  storeOldSecrets,
  storePlants,
  storeTokens,
  storeWebhooks,
} from './load-copy-rows.ts';
import { toArray } from './pg-array.ts';
import { failureOf } from './pg-errors.ts';
import { bounded } from './plants-read.ts';
import type { Tables } from './qualified-names.ts';
import { beginWrite, noLimits, type Row, type Statement, typed } from './transaction.ts';

const ROWS_AT_ONCE = 1000;
const CHARS_AT_ONCE = 256 * 1024;
/** Rows are looked at so often: to bring them over, and on both sides to compare what is there in the end. */
export const PASSES = 3;

/** Gives what both hold in the end. `onRow` is called for every row in each pass. Throws UserError. */
export async function loadCopy(url: string, copy: StoreCopy, onRow: () => void): Promise<Fingerprint> {
  const { names, version, synchronousCommit } = await prepareDatabase(url, 'copy');
  const { tables } = names;
  const begin = beginWrite(noLimits(version), synchronousCommit);
  const [writer, reader] = [new pg.Client(clientConfig(url)), new pg.Client(clientConfig(url))];
  for (const client of [writer, reader]) client.on('error', () => {}); // told to whoever is asking something
  const run = randomUUID();
  try {
    await Promise.all([writer.connect(), reader.connect()]);
    await reader.query(begin); // until it ends; each statement sees what is committed before it
    await beginCopy();
    await bring(counted(copy.plants()), readAll<CopiedPlant>(tables.plants, 'id'), storePlants, {
      key: ({ id }) => id,
      columns: PLANT,
    });
    await bring(counted(copy.changes()), readAll<ChangeRow>(tables.changes, 'seq'), storeChanges, {
      key: ({ seq }) => seq,
      columns: CHANGE,
    });
    const tokens = await Array.fromAsync(copy.tokens());
    await commit(storeTokens(tables, tokens));
    await commit(storeOldSecrets(tables, await Array.fromAsync(copy.oldSecrets())));
    await bringWebhooks();
    const wanted = await fingerprint({
      plants: counted(copy.plants()),
      changes: counted(copy.changes()),
      webhooks: copy.webhooks(),
      deliveries: copy.deliveries(),
    });
    const there = await fingerprint({
      plants: counted(readAll<CopiedPlant>(tables.plants, 'id')),
      changes: counted(readAll<ChangeRow>(tables.changes, 'seq')),
      webhooks: readWebhooks(),
      deliveries: readDeliveries(),
    });
    if (there.sha256 !== wanted.sha256 || !(await hasTokens(tokens))) {
      throw new UserError(
        `The copy is not the same (${JSON.stringify(there)}, not ${JSON.stringify(wanted)}): run it again`,
      );
    }
    await endCopy();
    return there;
  } catch (error) {
    if (error instanceof UserError || failureOf(error) === 'bug') throw error;
    throw new UserError(`The copy was broken off: ${(error as Error).message}; run it again to go on`);
  } finally {
    await Promise.allSettled([writer.end(), reader.end()]);
  }

  /** Refuses a store that is no copy of this one, or that has been written to. From then on nobody else writes to it. */
  async function beginCopy(): Promise<void> {
    await writer.query(begin);
    await writer.query('SELECT pg_advisory_xact_lock($1)', [CHANGES_LOCK]);
    const text = `
      SELECT greatest(pruned_to, (SELECT max(seq) FROM ${tables.changes})) AS given, (SELECT seq FROM ${tables.copied}) AS copied
      FROM ${tables.numbering}`;
    const { given, copied } = (await writer.query(typed({ text }))).rows[0] as { given: bigint; copied: bigint | null };
    const isUnderWay = copied === UNDER_WAY;
    if (!isUnderWay && given > (copied ?? 0n)) {
      throw new UserError(
        'The database has plants of its own: take an empty one, or a copy that nobody has written to',
      );
    }
    if (copied !== null && !(await isCopyOf(isUnderWay ? undefined : copied))) {
      throw new UserError('The database holds a copy of another store: take an empty one');
    }
    await writer.query(`DELETE FROM ${tables.copied}`);
    await writer.query(`INSERT INTO ${tables.copied} VALUES ($1, $2)`, [UNDER_WAY, run]);
    // The tokens now: they tell whose copy it is, also when it is broken off.
    for (const statement of storeTokens(tables, await Array.fromAsync(copy.tokens())))
      await writer.query(typed(statement));
    await writer.query('COMMIT');
  }

  /** It has the same change, or a token of it, neither of which another one can have. */
  async function isCopyOf(last: bigint | undefined): Promise<boolean> {
    if (last !== undefined && last > BigInt(copy.lastSeq)) return false;
    const { rows } = await writer.query(
      typed({ text: `SELECT * FROM ${tables.changes} WHERE seq = $1`, values: [last ?? 0] }),
    );
    const [own, other] = [rows[0] as ChangeRow | undefined, last === undefined ? undefined : copy.changeAt(last)];
    if (own && other) return toLine(own, CHANGE) === toLine(other, CHANGE);
    const ids = (await Array.fromAsync(copy.tokens())).map(({ id }) => id);
    const { rows: tokens } = await writer.query(typed({ text: `SELECT id FROM ${tables.tokens}` }));
    return tokens.length + ids.length === 0 || tokens.some(({ id }) => ids.includes(id));
  }

  async function bring<T extends { name: string; tag: string | null }>(
    wanted: AsyncIterable<T>,
    there: AsyncIterable<T>,
    store: (tables: Tables, batch: Difference<T>[]) => Statement[],
    by: { key: (row: T) => bigint | string; columns: (keyof T)[] },
  ): Promise<void> {
    let batch: Difference<T>[] = [];
    let chars = 0;
    for await (const difference of differences(wanted, there, by)) {
      batch.push(difference);
      chars += charsIn(difference);
      if (batch.length < ROWS_AT_ONCE && chars < CHARS_AT_ONCE) continue;
      await commit(store(tables, batch));
      batch = [];
      chars = 0;
    }
    if (batch.length > 0) await commit(store(tables, batch));
  }

  async function bringWebhooks(): Promise<void> {
    await commit(storeWebhooks(tables, await Array.fromAsync(copy.webhooks())));
    let batch: CopiedDelivery[] = [];
    for await (const delivery of copy.deliveries()) {
      if (batch.push(delivery) < ROWS_AT_ONCE) continue;
      await commit(storeDeliveries(tables, batch));
      batch = [];
    }
    if (batch.length > 0) await commit(storeDeliveries(tables, batch));
  }

  async function* readWebhooks(): AsyncGenerator<CopiedWebhook> {
    const text = `SELECT * FROM ${tables.webhooks} ORDER BY id`;
    yield* (await reader.query(typed({ text }))).rows as CopiedWebhook[];
  }

  async function* readDeliveries(): AsyncGenerator<CopiedDelivery> {
    for (let last = { webhook_id: '', seq: 0n }; ; ) {
      const text = `
        SELECT * FROM ${tables.deliveries} WHERE (webhook_id, seq) > ($1, $2::bigint) ORDER BY webhook_id, seq LIMIT ${ROWS_AT_ONCE}`;
      const { rows } = await reader.query(typed({ text, values: [last.webhook_id, last.seq] }));
      yield* rows as CopiedDelivery[];
      if (rows.length < ROWS_AT_ONCE) return;
      last = rows.at(-1) as CopiedDelivery;
    }
  }

  /** Piece by piece, by ascending key: what is stored meanwhile lies behind. */
  async function* readAll<T>(table: string, key: 'id' | 'seq'): AsyncGenerator<T> {
    for (let last: unknown; ; ) {
      const where = last === undefined ? '' : `WHERE ${key} > $1`;
      const text = `SELECT * FROM ${table} ${where} ORDER BY ${key} LIMIT ${ROWS_AT_ONCE}`;
      const { rows } = await reader.query(typed(bounded(text, key, last === undefined ? [] : [last])));
      yield* rows as T[];
      const end = rows.at(-1) as Row | undefined;
      if (!end || (rows.length < ROWS_AT_ONCE && !end.is_cut)) return;
      last = end[key];
    }
  }

  async function* counted<T>(rows: AsyncIterable<T>): AsyncGenerator<T> {
    for await (const row of rows) {
      onRow();
      yield row;
    }
  }

  async function hasTokens(tokens: CopiedToken[]): Promise<boolean> {
    const text = `
      SELECT FROM unnest($1::text[], $2::text[]) AS sent (id, secret_hash)
      WHERE EXISTS (SELECT FROM ${tables.tokens} t WHERE t.id = sent.id AND t.secret_hash = sent.secret_hash)
        OR EXISTS (SELECT FROM ${tables.old_secrets} o WHERE o.token_id = sent.id AND o.secret_hash = sent.secret_hash)`;
    const values = [toArray(tokens.map(({ id }) => id)), toArray(tokens.map(({ secret_hash }) => secret_hash))];
    return (await reader.query(typed({ text, values }))).rows.length === tokens.length;
  }

  function endCopy(): Promise<void> {
    const { lastSeq, prunedTo, skipped } = copy;
    return commit([
      { text: `UPDATE ${tables.numbering} SET pruned_to = $1`, values: [prunedTo] },
      { text: `DELETE FROM ${tables.skipped}` },
      {
        text: `INSERT INTO ${tables.skipped} SELECT * FROM unnest($1::bigint[], $2::bigint[])`,
        values: [toArray(skipped.map(({ first }) => first)), toArray(skipped.map(({ last }) => last))],
      },
      { text: `SELECT ${names.calls.skip_change_numbers}` }, // the store that was copied may go on giving numbers
      { text: `UPDATE ${tables.copied} SET seq = $1`, values: [lastSeq] },
    ]);
  }

  async function commit(statements: Statement[]): Promise<void> {
    await writer.query(begin);
    const { rowCount } = await writer.query(`UPDATE ${tables.copied} SET seq = $1 WHERE run = $2`, [UNDER_WAY, run]);
    if (rowCount !== 1) throw new UserError('Another copy into this database was begun: this one has stopped');
    for (const statement of statements) await writer.query(typed(statement));
    await writer.query('COMMIT');
  }
}

/** As the functions of the database take it. */
const CHANGES_LOCK = 0x504c_4e54;
