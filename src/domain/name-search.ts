// Name search: each word of a query must be the beginning of a word in the name. Case and accents are ignored.
// Only this file folds and splits text, so every database returns the same result. Every function runs in time
// proportional to the length of its input.

import { cutToCodePoints } from '../lib/code-points.ts';
import { PlantStoreError } from './errors.ts';

/** Limits of a query. They bound the cost of a search and are far above what a person types. */
export const MAX_QUERY_CHARS = 1000;
export const MAX_QUERY_WORDS = 64;

/** Letters that Unicode does not decompose although they differ from a base letter only by a stroke or a dot. */
const PLAIN: Record<string, string> = { ø: 'o', ł: 'l', đ: 'd', ħ: 'h', ŧ: 't', ı: 'i', ς: 'σ' };
/** Accents and variation selectors. */
const ACCENT = '\\u0300-\\u036f\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe00-\\ufe0f\\ufe20-\\ufe2f';
const ACCENTS = new RegExp(`[${ACCENT}]+`, 'g');
/** Runs of combining marks, including the two letters that NFKD turns into a mark. */
const MARKS = new RegExp(`[\\p{M}${ACCENT}\\uff9e\\uff9f]+`, 'gu');
/** Maximum marks kept per run: normalizing sorts a run in quadratic time, and no language has longer ones (UAX #15). */
const MAX_MARKS = 30;
/** Maximum length of a folded name. The rest is ignored: one character can expand to 18 letters (U+FDFA). */
const MAX_FOLDED_CHARS = 64 * 1024;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;

const ASCII_WORD = /[0-9a-z]+/g;

/** Number of characters of a folded name that determine its place in the order by name. */
export const MAX_KEY_CHARS = 500;
/** UTF-16 units of a name that are folded for its key: enough for two accents per letter. A whole name takes up to 10 ms. */
export const MAX_UNITS_OF_KEY = 4 * MAX_KEY_CHARS;

/** Returns the text by which names are sorted: the beginning of the folded name, with up to MAX_KEY_CHARS characters. */
export function nameKey(name: string): string {
  const begin = cutText(name, MAX_UNITS_OF_KEY);
  return isAscii(begin) ? begin.slice(0, MAX_KEY_CHARS).toLowerCase() : cutToCodePoints(fold(begin), MAX_KEY_CHARS);
}

/** Returns the folded words of a text, in order. */
export function wordsOf(text: string): string[] {
  return (isAscii(text) ? text.toLowerCase().match(ASCII_WORD) : fold(text).match(WORD)) ?? [];
}

/** True if a query has a character other than blanks, but no word. Such a query matches no name. */
export function findsNothing(query: string): boolean {
  return query.trim() !== '' && queryWords(query).length === 0;
}

/** Returns the words in ascending order, without prefixes of other words. Throws `bad_parameter` above the limits. */
export function queryWords(query: string): string[] {
  const words = query.length > MAX_QUERY_CHARS ? undefined : wordsOf(query);
  if (!words || words.length > MAX_QUERY_WORDS) {
    const bounds = `at most ${MAX_QUERY_CHARS} characters and ${MAX_QUERY_WORDS} words`;
    throw new PlantStoreError('bad_parameter', `"q" must have ${bounds}. Search for fewer words.`);
  }
  const sorted = words.sort(); // sorts a word directly before the words that start with it
  return sorted.filter((word, at) => !sorted[at + 1]?.startsWith(word));
}

/** True if each wanted word is the beginning of a word in the name. `wanted` is a result of `queryWords`. */
export function hasWords(name: string, wanted: string[]): boolean {
  const missing = new Set(wanted);
  if (missing.size === 0) return true;
  for (const word of wordsOf(name)) {
    const begin = lastUpTo(wanted, word); // the only candidate: no wanted word is a prefix of another
    if (begin !== undefined && word.startsWith(begin) && missing.delete(begin) && missing.size === 0) return true;
  }
  return false;
}

/** Returns the greatest of the sorted words that is not greater than `word`. */
function lastUpTo(sorted: string[], word: string): string | undefined {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as string) <= word) low = middle + 1;
    else high = middle;
  }
  return sorted[low - 1];
}

/** Returns the first `maxChars` UTF-16 units of the text, without splitting a surrogate pair. */
export function cutText(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : text.slice(0, maxChars).replace(/\p{Surrogate}$/u, '');
}

export function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

/**
 * Folds case and accents. Converts through upper case, so that ß becomes ss, and composes the result again, so that a
 * Hangul syllable stays one character.
 */
function fold(text: string): string {
  const decomposed = text
    .replace(MARKS, (run) => cutText(run, MAX_MARKS))
    .normalize('NFKD')
    .replace(ACCENTS, '');
  const plain = cutText(decomposed, MAX_FOLDED_CHARS);
  const small = plain.toUpperCase().toLowerCase();
  const folded = small === plain ? small : small.normalize('NFKD').replace(ACCENTS, '');
  return folded.replace(/[øłđħŧıς]/g, (letter) => PLAIN[letter] ?? letter).normalize('NFC');
}
