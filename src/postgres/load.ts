// A store as rows → a database of PostgreSQL that holds the same, also its numbers and times. A second run brings over
// what has come since, or goes on where the first one was broken off.

import pg from 'pg';
import {
  CHANGE,
  type CopiedPlant,
  type CopiedToken,
  type Difference,
  differences,
  type Fingerprint,
  fingerprint,
  PLANT,
  type StoreCopy,
  TOKEN,
  toLine,
} from '../copy.ts';
import { Refusal } from '../refusal.ts';
import type { ChangeRow } from '../rows.ts';
import { toArray } from './array.ts';
import { clientConfig, prepareDatabase, UNDER_WAY } from './database.ts';
import { failureOf } from './failure.ts';
import { LAST_SEQ } from './read.ts';
import { indexWords } from './search.ts';
import { type Row, type Statement, typed } from './transaction.ts';
import { indexEntries } from './write.ts';

const ROWS_AT_ONCE = 2000;
const CHARS_AT_ONCE = 4 * 1024 * 1024;

/** Rows are looked at so often: to bring them over, and on both sides to compare what is there in the end. */
export const PASSES = 3;

/** Gives what both hold in the end. `onRow` is called for every row in each pass. Throws Refusal. */
export async function loadCopy(url: string, copy: StoreCopy, onRow: () => void): Promise<Fingerprint> {
  await prepareDatabase(url, 'copy');
  const [writer, reader] = [new pg.Client(clientConfig(url)), new pg.Client(clientConfig(url))];
  for (const client of [writer, reader]) client.on('error', () => {}); // told to whoever is asking something
  try {
    await Promise.all([writer.connect(), reader.connect()]);
    await beginCopy(writer, copy);
    await bring(counted(copy.plants()), readAll<CopiedPlant>('plants', 'id'), storePlants, {
      key: ({ id }) => id,
      columns: PLANT,
    });
    await bring(counted(copy.changes()), readAll<ChangeRow>('changes', 'seq'), storeChanges, {
      key: ({ seq }) => seq,
      columns: CHANGE,
    });
    await bring(copy.tokens(), readAll<CopiedToken>('tokens', 'id'), storeTokens, {
      key: ({ id }) => id,
      columns: TOKEN,
    });
    const wanted = await fingerprint({
      plants: () => counted(copy.plants()),
      changes: () => counted(copy.changes()),
      tokens: () => copy.tokens(),
    });
    const there = await fingerprint({
      plants: () => counted(readAll<CopiedPlant>('plants', 'id')),
      changes: () => counted(readAll<ChangeRow>('changes', 'seq')),
      tokens: () => readAll<CopiedToken>('tokens', 'id'),
    });
    if (there.sha256 !== wanted.sha256) {
      throw new Refusal(
        `The copy is not the same (${JSON.stringify(there)}, not ${JSON.stringify(wanted)}): run it again`,
      );
    }
    await endCopy(writer, copy);
    return there;
  } catch (error) {
    if (error instanceof Refusal || failureOf(error) === 'bug') throw error;
    throw new Refusal(`The copy was broken off: ${(error as Error).message}; run it again to go on`);
  } finally {
    await Promise.allSettled([writer.end(), reader.end()]);
  }

  async function bring<T extends { name: string }>(
    wanted: AsyncIterable<T>,
    there: AsyncIterable<T>,
    store: (batch: Difference<T>[]) => Statement[],
    by: { key: (row: T) => bigint | string; columns: (keyof T)[] },
  ): Promise<void> {
    let batch: Difference<T>[] = [];
    let chars = 0;
    for await (const difference of differences(wanted, there, by)) {
      batch.push(difference);
      chars += difference.row?.name.length ?? 0;
      if (batch.length < ROWS_AT_ONCE && chars < CHARS_AT_ONCE) continue;
      await commit(writer, store(batch));
      batch = [];
      chars = 0;
    }
    if (batch.length > 0) await commit(writer, store(batch));
  }

  /** Piece by piece, by ascending key: what is stored meanwhile lies behind. */
  async function* readAll<T>(table: string, key: 'id' | 'seq'): AsyncGenerator<T> {
    for (let last: unknown; ; ) {
      const where = last === undefined ? '' : `WHERE ${key} > $1`;
      const text = `SELECT * FROM ${table} ${where} ORDER BY ${key} LIMIT ${ROWS_AT_ONCE}`;
      const { rows } = await reader.query(typed({ text, ...(last !== undefined && { values: [last] }) }));
      yield* rows as T[];
      if (rows.length < ROWS_AT_ONCE) return;
      last = (rows.at(-1) as Row)[key];
    }
  }

  async function* counted<T>(rows: AsyncIterable<T>): AsyncGenerator<T> {
    for await (const row of rows) {
      onRow();
      yield row;
    }
  }
}

/** Refuses a store that is no copy of this one, or that has been written to. Until the end no server starts on it. */
async function beginCopy(client: pg.Client, copy: StoreCopy): Promise<void> {
  const text = `SELECT (${LAST_SEQ}) AS last, (SELECT seq FROM copied) AS copied`;
  const { last, copied } = (await client.query(typed({ text }))).rows[0] as { last: bigint; copied: bigint | null };
  const isUnderWay = copied === UNDER_WAY;
  if (!isUnderWay && last !== (copied ?? 0n)) {
    throw new Refusal('The database has plants of its own: take an empty one, or a copy that nobody has written to');
  }
  if (!isUnderWay && last > 0n && !(await isCopyOf(client, copy, last))) {
    throw new Refusal('The database holds a copy of another store: take an empty one');
  }
  await commit(client, [
    { text: 'DELETE FROM copied' },
    { text: 'INSERT INTO copied VALUES ($1)', values: [UNDER_WAY] },
  ]);
}

async function isCopyOf(client: pg.Client, copy: StoreCopy, last: bigint): Promise<boolean> {
  if (last > BigInt(copy.lastSeq)) return false;
  const { rows } = await client.query(typed({ text: 'SELECT * FROM changes WHERE seq = $1', values: [last] }));
  const [own, other] = [rows[0] as ChangeRow | undefined, copy.changeAt(last)];
  return !own || !other || toLine(own, CHANGE) === toLine(other, CHANGE); // else it was pruned
}

function endCopy(client: pg.Client, { lastSeq, prunedTo, skipped }: StoreCopy): Promise<void> {
  return commit(client, [
    { text: 'UPDATE numbering SET pruned_to = $1', values: [prunedTo] },
    { text: 'DELETE FROM skipped' },
    {
      text: 'INSERT INTO skipped SELECT * FROM unnest($1::bigint[], $2::bigint[])',
      values: [toArray(skipped.map(({ first }) => first)), toArray(skipped.map(({ last }) => last))],
    },
    { text: `SELECT setval('change_numbers', $1, $2)`, values: [Math.max(lastSeq, 1), lastSeq > 0] },
    { text: 'UPDATE copied SET seq = $1', values: [lastSeq] },
  ]);
}

function storePlants(batch: Difference<CopiedPlant>[]): Statement[] {
  const { olds, rows } = split(batch);
  const entries = (of: CopiedPlant[]) => indexEntries(of.map((plant) => ({ id: plant.id, words: indexWords(plant) })));
  return [
    {
      text: `DELETE FROM words w USING unnest($1::text[], $2::bigint[]) AS old (word, id) WHERE w.word = old.word AND w.id = old.id`,
      values: entries(olds),
    },
    { text: 'DELETE FROM plants WHERE id = ANY ($1::bigint[])', values: [toArray(olds.map(({ id }) => id))] },
    insert(
      'plants',
      { id: 'bigint', name: 'text', tag: 'text', created: 'bigint', updated: 'bigint', seq: 'bigint' },
      rows,
    ),
    { text: 'INSERT INTO words SELECT * FROM unnest($1::text[], $2::bigint[])', values: entries(rows) },
  ];
}

function storeChanges(batch: Difference<ChangeRow>[]): Statement[] {
  const { olds, rows } = split(batch);
  const types = {
    seq: 'bigint',
    type: 'text',
    time: 'bigint',
    plant_id: 'bigint',
    name: 'text',
    tag: 'text',
    token_id: 'text',
  };
  return [
    { text: 'DELETE FROM changes WHERE seq = ANY ($1::bigint[])', values: [toArray(olds.map(({ seq }) => seq))] },
    insert('changes', types, rows),
  ];
}

function storeTokens(batch: Difference<CopiedToken>[]): Statement[] {
  const { olds, rows } = split(batch);
  const types = {
    id: 'text',
    secret_hash: 'text',
    name: 'text',
    scopes: 'text',
    created: 'bigint',
    expires: 'bigint',
    revoked: 'bigint',
  };
  return [
    { text: 'DELETE FROM tokens WHERE id = ANY ($1::text[])', values: [toArray(olds.map(({ id }) => id))] },
    insert('tokens', types, rows),
  ];
}

function split<T>(batch: Difference<T>[]): { olds: T[]; rows: T[] } {
  return { olds: batch.flatMap(({ old }) => old ?? []), rows: batch.flatMap(({ row }) => row ?? []) };
}

function insert<T extends object>(table: string, types: Record<string, string>, rows: T[]): Statement {
  const columns = Object.keys(types);
  const arrays = Object.values(types).map((type, at) => `$${at + 1}::${type}[]`);
  return {
    text: `INSERT INTO ${table} (${columns.join(', ')}) SELECT * FROM unnest(${arrays.join(', ')})`,
    values: columns.map((column) => toArray(rows.map((row) => row[column as keyof T] as string | bigint | null))),
  };
}

async function commit(client: pg.Client, statements: Statement[]): Promise<void> {
  await client.query('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE');
  for (const statement of statements) await client.query(typed(statement));
  await client.query('COMMIT');
}
