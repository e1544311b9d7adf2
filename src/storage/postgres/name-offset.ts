// Finds a plant by its number in the order by name. The index of this order is on an expression, so PostgreSQL fetches the
// row of every entry that OFFSET skips, at a random place. A bitmap fetches rows in the order of the table, which takes a
// fifth of the time, but only counts. So a sample gives a name near the plant, and a bitmap counts the names before it.

import { isDescending, type Sort } from '../../domain/list-order.ts';
import { NAME_KEY } from './name-keys.ts';
import type { Tables } from './qualified-names.ts';
import type { Query } from './transaction.ts';

/** Number of skipped plants from which counting is faster. */
export const WORTH_COUNTING = 20_000;
/** Number of plants in a sample. More would give a nearer name, but take longer. */
const SAMPLE = 10_000;

/**
 * Returns the id of the plant that has `before` plants before it in the order `sort`. It must be in the first half of
 * all plants.
 */
export async function findIdByName(
  query: Query,
  { plants }: Tables,
  { sort, before, total }: { sort: Sort; before: number; total: number },
): Promise<bigint | undefined> {
  const [onwards, backwards] = isDescending(sort) ? (['DESC', 'ASC'] as const) : (['ASC', 'DESC'] as const);
  const [earlier, later] = isDescending(sort) ? (['>', '<='] as const) : (['<', '>='] as const);
  const near = before < WORTH_COUNTING ? undefined : await sampleName();
  if (near === undefined) return findId('', onwards, [before]);
  const distance = before - (await countBefore(near));
  return distance >= 0
    ? findId(`WHERE ${NAME_KEY} ${later} $2`, onwards, [distance, near])
    : findId(`WHERE ${NAME_KEY} ${earlier} $2`, backwards, [-distance - 1, near]);

  /** Returns a name near the plant, or undefined if the sample is empty. */
  async function sampleName(): Promise<string | undefined> {
    const [sampled] = await query<{ key: string | null }>({
      text: `
        SELECT percentile_disc($1::double precision) WITHIN GROUP (ORDER BY ${NAME_KEY} ${onwards}) AS key
        FROM ${plants} TABLESAMPLE SYSTEM ($2)`,
      values: [before / total, (100 * SAMPLE) / total],
    });
    return sampled?.key ?? undefined;
  }

  async function countBefore(name: string): Promise<number> {
    await query({ text: 'SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off' }); // leaves only the bitmap
    const text = `SELECT count(*) AS plants FROM ${plants} WHERE ${NAME_KEY} ${earlier} $1`;
    const [counted] = await query<{ plants: bigint }>({ text, values: [name] });
    await query({ text: 'SET LOCAL enable_indexscan = on' });
    return Number(counted?.plants);
  }

  async function findId(where: string, order: 'ASC' | 'DESC', values: unknown[]): Promise<bigint | undefined> {
    const text = `SELECT id FROM ${plants} ${where} ORDER BY ${NAME_KEY} ${order}, id ${order} OFFSET $1 LIMIT 1`;
    const [found] = await query<{ id: bigint }>({ text, values });
    return found?.id;
  }
}
