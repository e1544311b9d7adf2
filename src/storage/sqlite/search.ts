// Builds the texts and the queries of the index `words`. The index only preselects candidates. The rule in
// name-search.ts decides whether a record matches.

import type { DatabaseSync } from 'node:sqlite';
import { createTagTest, type Filter, tagsOf } from '../../domain/list-cursor.ts';
import type { Place } from '../../domain/list-order.ts';
import { cutText, findsNothing, hasWords, queryWords, wordsOf } from '../../domain/name-search.ts';
import type { Plant } from '../../domain/plant.ts';

/** First character of a tag's index word. It is neither a letter nor a number, so no word of a name starts with it. */
const TAG = '\ue000';
/** Index word of a plant without a tag. */
const UNTAGGED = '\ue001';
/** Maximum number of words in an index query. The rule quickly skips a name that has these words but lacks others. */
const MAX_WORDS_ASKED = 16;
/** Length at which words are cut in the index, in `dictionary` and in queries. Longer words only slow searches down. */
export const MAX_WORD_CHARS = 64;
/** Maximum number of words with the same prefix that a query lists one by one. */
const MAX_ENDINGS = 64;

export function indexText(name: string, tag: string | null | undefined): string {
  return withTag(nameText(name), tag);
}

/** Returns the part of the index text that is made of the name. */
export function nameText(name: string): string {
  return isPlainName(name) ? name : wordsIn(name).join(' ');
}

export function withTag(text: string, tag: string | null | undefined): string {
  return `${text} ${tag == null ? UNTAGGED : tagWord(tag)}`;
}

/** True if the index can split the name itself: it splits and lower-cases ASCII exactly as name-search.ts does. */
export function isPlainName(name: string): boolean {
  let wordChars = 0;
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    wordChars = isAsciiOfWord(code) ? wordChars + 1 : 0;
    if (code > 0x7f || wordChars > MAX_WORD_CHARS) return false;
  }
  return true;
}

/** True for an ASCII letter or digit. */
export function isAsciiOfWord(code: number): boolean {
  const letter = code | 0x20; // maps a capital to its lower-case letter
  return (letter >= 0x61 && letter <= 0x7a) || (code >= 0x30 && code <= 0x39);
}

/** SQL for the result of `indexText` if `isPlainName` and `isPlainTag` are true for the plant. */
export const PLAIN_INDEX_TEXT = `name || ' ' || iif(tag IS NULL, char(${UNTAGGED.charCodeAt(0)}), char(${TAG.charCodeAt(0)}) || tag)`;

/** True if SQL can build the index word of the tag, which is faster. */
export function isPlainTag(tag = ''): boolean {
  return /^[0-9a-z]*$/.test(tag);
}

/** Returns the distinct words of a name as the index and `dictionary` store them. */
export function wordsIn(name: string): string[] {
  return [...new Set(wordsOf(name).map(cut))];
}

/**
 * Returns a function that must be called for each pass. It returns undefined if the filter matches no plant. `isSparse`
 * is true if only few candidates of the last pass have matched.
 */
export function prepareSearch(db: DatabaseSync) {
  const nextWord = db.prepare('SELECT word FROM dictionary WHERE word >= ? ORDER BY word LIMIT 1');

  return (filter: Filter, isSparse: boolean) => {
    const { q = '' } = filter;
    if (findsNothing(q)) return undefined;
    const words = queryWords(q);
    const longest = words.toSorted((a, b) => b.length - a.length).slice(0, MAX_WORDS_ASKED);
    const terms = longest.map((word) => toTerm(cut(word), isSparse));
    const hasTag = createTagTest(filter);
    return {
      /** Operand of `MATCH`. */
      expression: [...terms, tagTerm(filter)].filter((term) => term !== '').join(' AND '),
      isWanted: (plant: Plant) => hasTag(plant) && hasWords(plant.name, words),
    };
  };

  /**
   * Returns the index term for a prefix. The index has an entry for each single letter. For a longer prefix it would
   * first collect all its plants in memory. For whole words it reads only as many plants as the page holds. So the
   * words with the prefix are looked up. If they exceed MAX_ENDINGS, they are probably common among all words with the
   * same first letter, so that letter is queried, unless the matches are sparse.
   */
  function toTerm(begin: string, isSparse: boolean): string {
    const [letter, ...more] = begin;
    if (more.length === 0) return `"${begin}"*`;
    const endings: string[] = [];
    for (let from = begin; ; ) {
      const word = (nextWord.get(from) as { word: string } | undefined)?.word;
      if (!word?.startsWith(begin)) break;
      if (endings.push(`"${word}"`) > MAX_ENDINGS) return isSparse ? `"${begin}"*` : `"${letter}"*`;
      from = `${word}!`; // sorts right after the word, because words contain no punctuation
    }
    return endings.length === 0 ? `"${begin}"` : `(${endings.join(' OR ')})`;
  }
}

/**
 * Returns a function that finds the place by id of the plant with a tag of the filter that has `before`
 * such plants before it. It reads only the index, if no other tags share the words of these.
 */
export function prepareFindTagged(db: DatabaseSync) {
  const find = db.prepare('SELECT rowid AS id FROM words WHERE words MATCH ? ORDER BY rowid LIMIT 1 OFFSET ?');
  const findExactly = db.prepare(`
    SELECT plants.id FROM words CROSS JOIN plants ON plants.id = words.rowid
    WHERE words MATCH ?1 AND (plants.tag IN (SELECT value FROM json_each(?3)) OR (?4 AND plants.tag IS NULL))
    ORDER BY words.rowid LIMIT 1 OFFSET ?2`);
  for (const statement of [find, findExactly]) statement.setReadBigInts(true);

  return (filter: Filter, before: number): Place | undefined => {
    const tags = tagsOf(filter);
    const term = tagTerm(filter);
    const row = tags.every(hasOwnWord)
      ? find.get(term, before)
      : findExactly.get(term, before, JSON.stringify(tags), Number(filter.untagged ?? false));
    return row && { key: 0, id: row.id as bigint };
  };
}

/** True if no other tag has the same index word. The index cuts words after 32 KiB. */
function hasOwnWord(tag: string): boolean {
  return tag.length < 10_000 && !tag.includes(TAG) && tagWord(tag) === TAG + tag;
}

/** Returns the index term for the tags of a filter, or an empty text if it has none. */
function tagTerm(filter: Filter): string {
  const words = [...tagsOf(filter).map(tagWord), ...(filter.untagged ? [UNTAGGED] : [])];
  return words.length === 0 ? '' : `(${words.map((word) => `"${word}"`).join(' OR ')})`;
}

function cut(word: string): string {
  return cutText(word, MAX_WORD_CHARS);
}

/** Encodes a tag as one index word. Otherwise the index would split it at punctuation and lower-case its capitals. */
function tagWord(tag: string): string {
  return TAG + tag.replace(/[^0-9a-z\u0080-\uffff]/g, (char) => TAG + char.charCodeAt(0).toString(16).padStart(2, '0'));
}
