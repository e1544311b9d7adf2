// What is put into the index `words`, and how it is asked. The index narrows down; whether a record is wanted is
// decided by the one rule of name-search.ts.

import type { DatabaseSync } from 'node:sqlite';
import type { Filter } from '../../domain/list-cursor.ts';
import { cutText, hasWords, queryWords, wordsOf } from '../../domain/name-search.ts';
import type { Plant } from '../../domain/plant.ts';

/** Begins the word that stands for a tag, and cannot begin a word of a name: it is neither a letter nor a number. */
const TAG = '\ue000';
/** Enough to narrow down: a name with so many of the words has all of them, or is soon passed over. */
const MAX_WORDS_ASKED = 16;
/** Words are cut at this length in the index, in `dictionary` and in what is asked: longer ones only make it slow. */
export const MAX_WORD_CHARS = 64;
/** Of a beginning, so many words are asked for one by one. */
const MAX_ENDINGS = 64;

export function indexText(name: string, tag: string | null | undefined): string {
  return withTag(isPlainName(name) ? name : wordsIn(name).join(' '), tag);
}

export function withTag(text: string, tag: string | null | undefined): string {
  return tag == null ? text : `${text} ${tagWord(tag)}`;
}

/** True if the index itself finds the words of the name: it splits and lower-cases ASCII just as name-search.ts does. */
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
  const letter = code | 0x20; // a capital as a small one
  return (letter >= 0x61 && letter <= 0x7a) || (code >= 0x30 && code <= 0x39);
}

/** As indexText gives it for a plant of which `isPlainName` and `isPlainTag` hold. */
export const PLAIN_INDEX_TEXT = `name || iif(tag IS NULL, '', ' ' || char(${TAG.charCodeAt(0)}) || tag)`;

/** Such a plant needs nothing of us to be indexed, which is quicker. */
export function isPlainTag(tag = ''): boolean {
  return /^[0-9a-z]*$/.test(tag);
}

/** Returns the different words of a name as the index and `dictionary` have them. */
export function wordsIn(name: string): string[] {
  return [...new Set(wordsOf(name).map(cut))];
}

/** The function gives undefined when the filter lets everything through. Must be called anew for each pass. */
export function prepareSearch(db: DatabaseSync) {
  const nextWord = db.prepare('SELECT word FROM dictionary WHERE word >= ? ORDER BY word LIMIT 1');

  return ({ q = '', tag }: Filter, pass: number) => {
    const words = queryWords(q);
    if (words.length === 0 && tag === undefined) return undefined;
    const longest = words.toSorted((a, b) => b.length - a.length).slice(0, MAX_WORDS_ASKED);
    const terms = longest.map((word) => toTerm(cut(word), pass));
    if (tag !== undefined) terms.push(`"${tagWord(tag)}"`);
    return {
      /** For `MATCH`. */
      expression: terms.join(' AND '),
      isWanted: (plant: Plant) => (tag === undefined || plant.tag === tag) && hasWords(plant.name, words),
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

function cut(word: string): string {
  return cutText(word, MAX_WORD_CHARS);
}

/** One word for the index, whatever is in the tag: the index would split it at signs and lower its capitals. */
function tagWord(tag: string): string {
  return TAG + tag.replace(/[^0-9a-z\u0080-\uffff]/g, (char) => TAG + char.charCodeAt(0).toString(16).padStart(2, '0'));
}
