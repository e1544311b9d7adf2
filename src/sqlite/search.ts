// What is put into the index `words`, and how it is asked. The index narrows down; whether a record is wanted is
// decided by the one rule of words.ts.

import type { DatabaseSync } from 'node:sqlite';
import type { Filter } from '../cursor.ts';
import type { Plant } from '../plant.ts';
import { hasWords, isAscii, queryWords, wordsOf } from '../words.ts';

/** Begins the word that stands for a tag, and cannot begin a word of a name: it is neither a letter nor a number. */
const TAG = '\ue000';
/** Enough to narrow down: a name with so many of the words has all of them, or is soon passed over. */
const MAX_WORDS_ASKED = 16;
const MAX_WORD_CHARS = 8 * 1024;
/** Of an ASCII name the index itself cuts them. */
export const MAX_INDEXED_CHARS = 32 * 1024;
/** Of a beginning, so many words are asked for one by one. */
const MAX_ENDINGS = 64;

/** The index splits and lower-cases ASCII just as words.ts does, so that an ASCII name can stay as it is. */
export function indexText(name: string, tag: string | null | undefined): string {
  const text = isAscii(name) ? name : wordsOf(name).map(cut).join(' ');
  return tag == null ? text : `${text} ${tagWord(tag)}`;
}

/** As indexText gives it for a plant with an ASCII name and a tag of which `isPlainTag` holds. */
export const PLAIN_INDEX_TEXT = `name || iif(tag IS NULL, '', ' ' || char(${TAG.charCodeAt(0)}) || tag)`;

/** Such a plant needs nothing of us to be indexed, which is quicker. */
export function isPlainTag(tag = ''): boolean {
  return /^[0-9a-z]*$/.test(tag);
}

/** The words of the index in it, as `dictionary` has them. */
export function wordsIn(name: string): string[] {
  const words = wordsOf(name);
  return isAscii(name) ? words.map((word) => word.slice(0, MAX_INDEXED_CHARS)) : words.map(cut);
}

export interface Search {
  /** For `MATCH`. */
  expression: string;
  isWanted(plant: Plant): boolean;
}

/** The function gives undefined when the filter lets everything through. To be called anew for each pass. */
export function prepareSearch(db: DatabaseSync): (filter: Filter, pass: number) => Search | undefined {
  const nextWord = db.prepare('SELECT word FROM dictionary WHERE word >= ? ORDER BY word LIMIT 1');

  return ({ q = '', tag }, pass) => {
    const words = queryWords(q);
    if (words.length === 0 && tag === undefined) return undefined;
    const longest = words.toSorted((a, b) => b.length - a.length).slice(0, MAX_WORDS_ASKED);
    const terms = longest.map((word) => toTerm(cut(word), pass));
    if (tag !== undefined) terms.push(`"${tagWord(tag)}"`);
    return {
      expression: terms.join(' AND '),
      isWanted: (plant) => (tag === undefined || plant.tag === tag) && hasWords(plant.name, words),
    };
  };

  /**
   * Of a single letter there is an entry. Of a longer beginning the index would first gather every plant there is, in
   * memory; of whole words it reads only as many plants as the page has. So the words that begin so are looked up. If
   * they are very many, they may well be common among what begins with the same letter: that is tried first.
   */
  function toTerm(begin: string, pass: number): string {
    const [letter, ...more] = begin;
    if (more.length === 0) return `"${begin}"*`;
    const endings: string[] = [];
    for (let from = begin; ; ) {
      const word = (nextWord.get(from) as { word: string } | undefined)?.word;
      if (!word?.startsWith(begin)) break;
      if (endings.push(`"${word}"`) > MAX_ENDINGS) return pass === 0 ? `"${letter}"*` : `"${begin}"*`;
      from = `${word}!`; // comes right after it: no word has a sign
    }
    return endings.length === 0 ? `"${begin}"` : `(${endings.join(' OR ')})`;
  }
}

/** The index cuts words at 32 KiB, in the middle of a letter. */
function cut(word: string): string {
  return word.length <= MAX_WORD_CHARS ? word : word.slice(0, MAX_WORD_CHARS).replace(/\p{Surrogate}$/u, '');
}

/** One word for the index, whatever is in the tag: the index would split it at signs and lower its capitals. */
function tagWord(tag: string): string {
  return TAG + tag.replace(/[^0-9a-z\u0080-\uffff]/g, (char) => TAG + char.charCodeAt(0).toString(16).padStart(2, '0'));
}
