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
/** Of a beginning, so many words are asked for one by one. */
const MAX_ENDINGS = 64;

/** The index splits and lower-cases ASCII just as words.ts does, so that an ASCII name can stay as it is. */
export function indexText(name: string, tag: string | null | undefined): string {
  const text = isAscii(name) ? name : wordsOf(name).join(' ');
  return tag == null ? text : `${text} ${tagWord(tag)}`;
}

/** As indexText gives it for a plant of which `isPlain` holds. */
export const PLAIN_INDEX_TEXT = `name || iif(tag IS NULL, '', ' ' || char(${TAG.charCodeAt(0)}) || tag)`;

/** Such a plant needs nothing of us to be indexed, which is quicker. */
export function isPlain({ name, tag = '' }: Plant): boolean {
  return isAscii(name) && /^[0-9a-z]*$/.test(tag);
}

export interface Search {
  /** For `MATCH`. */
  expression: string;
  isWanted(plant: Plant): boolean;
}

/** The function gives undefined when the filter lets everything through. */
export function prepareSearch(db: DatabaseSync): (filter: Filter) => Search | undefined {
  db.exec(`CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'words', 'instance')`);
  const nextWord = db.prepare('SELECT term FROM temp.vocabulary WHERE term >= ? LIMIT 1');

  return ({ q = '', tag }) => {
    const words = queryWords(q);
    if (words.length === 0 && tag === undefined) return undefined;
    const longest = words.toSorted((a, b) => b.length - a.length).slice(0, MAX_WORDS_ASKED);
    const terms = longest.map(toTerm);
    if (tag !== undefined) terms.push(`"${tagWord(tag)}"`);
    return {
      expression: terms.join(' AND '),
      isWanted: (plant) => (tag === undefined || plant.tag === tag) && hasWords(plant.name, words),
    };
  };

  /**
   * Of a single letter there is an entry. Of a longer beginning the index would first gather every plant there is, in
   * memory; of whole words it reads only as many plants as the page has. So the words that begin so are looked up.
   */
  function toTerm(begin: string): string {
    const letters = [...begin];
    if (letters.length === 1) return `"${begin}"*`;
    const endings: string[] = [];
    for (let from = begin; ; ) {
      const word = (nextWord.get(from) as { term: string } | undefined)?.term;
      if (!word?.startsWith(begin)) break;
      if (endings.push(`"${word}"`) > MAX_ENDINGS) {
        // What so many words begin with is not rare among what begins with the same letter.
        return letters.length === 2 ? `"${letters[0]}"*` : `"${begin}"*`;
      }
      from = `${word}!`; // comes right after it: no word has a sign
    }
    return endings.length === 0 ? `"${begin}"` : `(${endings.join(' OR ')})`;
  }
}

/** One word for the index, whatever is in the tag: the index would split it at signs and lower its capitals. */
function tagWord(tag: string): string {
  return TAG + tag.replace(/[^0-9a-z\u0080-\uffff]/g, (char) => TAG + char.charCodeAt(0).toString(16).padStart(2, '0'));
}
