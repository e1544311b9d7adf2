// Builds the entries of the index `words`, and finds candidates in it by ascending id. The index only preselects
// candidates. The rule in name-search.ts decides whether a record matches.

import { createTagTest, type Filter, tagsOf } from '../../domain/list-cursor.ts';
import { findsNothing, hasWords, queryWords, wordsOf } from '../../domain/name-search.ts';
import { MAX_ID, type Plant } from '../../domain/plant.ts';
import { keysFrom, MANY, tagKey, UNTAGGED, wordKey } from './index-key.ts';
import { toArray } from './pg-array.ts';
import type { Tables } from './qualified-names.ts';
import type { Statement } from './statement.ts';
import type { Query } from './transaction.ts';

const MAX_WORDS = 500;
/** Names above this size count as having too many words, because folding takes too long. Same rule: migration 0004. */
const MAX_NAME_BYTES = 4096;
/** Maximum number of query words looked up in the index. More would hardly reduce the candidates. */
const MAX_WORDS_ASKED = 16;
/** Maximum number of words with a prefix. A prefix of more words is too common to preselect candidates. */
const MAX_ENDINGS = 64;
/** Number of ids read for each of several terms in the first pass. For a single term, the page size applies. */
const PASS_IDS = 500;
/** Factor by which each pass is longer than the one before. */
const LONGER = 4;
const MAX_PASS = 4000;

export function indexKeys({ name, tag }: { name: string; tag?: string | null | undefined }): bigint[] {
  const words = Buffer.byteLength(name) > MAX_NAME_BYTES ? undefined : new Set(wordsOf(name).map(wordKey));
  const keys = words === undefined || words.size > MAX_WORDS ? [MANY] : [...words];
  keys.push(tag == null ? UNTAGGED : tagKey(tag));
  return keys;
}

export interface Search {
  /**
   * Selects candidates from id `from`, ascending. If more may follow, `upTo` is the last id that was checked. `pass` is
   * the number of earlier passes.
   */
  next(from: bigint, atMost: number, pass: number): Promise<{ where: Statement | undefined; upTo: bigint | undefined }>;
  isWanted(plant: Plant): boolean;
}

/** Returns a search, or undefined if the filter matches no plant. */
export async function openSearch(query: Query, tables: Tables, filter: Filter): Promise<Search | undefined> {
  const { q = '' } = filter;
  if (findsNothing(q)) return undefined;
  const words = queryWords(q);
  const tags = tagKeysOf(filter);
  const terms: bigint[][] = tags.length > 0 ? [tags] : [];
  for (const word of words.toSorted((a, b) => b.length - a.length).slice(0, MAX_WORDS_ASKED)) {
    const endings = await endingsOf(query, tables, word);
    if (endings.length <= MAX_ENDINGS) terms.push([...endings, MANY]);
  }
  const hasTag = createTagTest(filter);
  return {
    isWanted: (plant) => hasTag(plant) && hasWords(plant.name, words),
    async next(from, atMost, pass) {
      if (terms.length === 0) return nextStretch(query, tables, words, from);
      const atOnce = Math.min(MAX_PASS, (terms.length === 1 ? atMost : PASS_IDS) * LONGER ** pass);
      const { ids, upTo } = await findCandidates(query, tables, terms, from, atOnce);
      const where = { text: `id = ANY ($1::bigint[]) AND ${HAS_LETTERS}`, values: [toArray(ids), likeAll(words)] };
      return { where: ids.length > 0 ? where : undefined, upTo };
    },
  };
}

/** Returns the numbers of which a plant must have one, unless the filter has no tags. */
export function tagKeysOf(filter: Filter): bigint[] {
  return [...tagsOf(filter).map(tagKey), ...(filter.untagged ? [UNTAGGED] : [])];
}

/** Returns the words with a prefix. It jumps from word to word, so the number of plants per word does not matter. */
async function endingsOf(query: Query, tables: Tables, begin: string): Promise<bigint[]> {
  const rows = await query<{ word: bigint }>({
    text: `
      WITH RECURSIVE ending (word) AS (
        (SELECT word FROM ${tables.words} WHERE word BETWEEN $1 AND $2 ORDER BY word LIMIT 1)
        UNION ALL
        SELECT (SELECT w.word FROM ${tables.words} w WHERE w.word > ending.word AND w.word <= $2 ORDER BY w.word LIMIT 1)
        FROM ending WHERE ending.word IS NOT NULL
      )
      SELECT word FROM ending WHERE word IS NOT NULL LIMIT ${MAX_ENDINGS + 1}`,
    values: keysFrom(begin),
  });
  return rows.map(({ word }) => word);
}

/** Excludes ASCII names that lack the words. `isWanted` decides on all other names. `$2` is from `likeAll`. */
const HAS_LETTERS = '(octet_length(name) <> length(name) OR lower(name) LIKE ALL ($2::text[]))';

function likeAll(words: string[]): string {
  return toArray(words.map((word) => `%${word}%`));
}

/** Selects the next candidates without the index. */
async function nextStretch(
  query: Query,
  tables: Tables,
  words: string[],
  from: bigint,
): Promise<{ where: Statement; upTo: bigint | undefined }> {
  const [last] = await query<{ id: bigint }>({
    text: `SELECT id FROM ${tables.plants} WHERE id >= $1 ORDER BY id OFFSET ${MAX_PASS - 1} LIMIT 1`,
    values: [from],
  });
  const upTo = last?.id;
  const text = `id BETWEEN $1 AND $3 AND ${HAS_LETTERS}`;
  return { where: { text, values: [from, likeAll(words), upTo ?? MAX_ID] }, upTo };
}

/** Returns the plants that have a word of every term. */
async function findCandidates(
  query: Query,
  tables: Tables,
  terms: bigint[][],
  from: bigint,
  atOnce: number,
): Promise<{ ids: bigint[]; upTo: bigint | undefined }> {
  const lists = await Promise.all(terms.map((words) => idsOf(query, tables, words, from, atOnce)));
  if (lists.some((ids) => ids.length === 0)) return { ids: [], upTo: undefined };
  const lasts = lists.filter((ids) => ids.length === atOnce).map((ids) => ids.at(-1) as bigint);
  const end = lasts.length > 0 ? lasts.reduce((a, b) => (a < b ? a : b)) : undefined;
  const [shortest = [], ...others] = lists.toSorted((a, b) => a.length - b.length);
  const sets = others.map((ids) => new Set(ids));
  const ids = shortest.filter((id) => id <= (end ?? MAX_ID) && sets.every((set) => set.has(id)));
  if (end === undefined) return { ids, upTo: undefined };
  // No plant before this id has all terms.
  const start = lists.map(([first]) => first as bigint).reduce((a, b) => (a > b ? a : b));
  return { ids, upTo: start > end ? start - 1n : end };
}

/**
 * Returns plants with one of the words, by id. The comparison of rows makes PostgreSQL read the index in order, only up to
 * the limit. With one comparison per column, it may read and sort all plants with a word, if it takes the word for rare.
 */
async function idsOf(query: Query, tables: Tables, words: bigint[], from: bigint, limit: number): Promise<bigint[]> {
  const rows = await query<{ id: bigint }>({
    text: `
      SELECT DISTINCT found.id FROM unnest($1::bigint[]) AS asked (word)
      CROSS JOIN LATERAL (
        SELECT w.id FROM ${tables.words} w
        WHERE (w.word, w.id) >= (asked.word, $2) AND (w.word, w.id) <= (asked.word, ${MAX_ID}) ORDER BY w.word, w.id LIMIT $3
      ) AS found
      ORDER BY found.id LIMIT $3`,
    values: [toArray(words), from, limit],
  });
  return rows.map(({ id }) => id);
}
