// How names are searched: each word of a query must begin a word of the name, whatever its case and accents.
// The one place that folds and splits, so that every database gives the same answer. All of it takes time in proportion to
// its input, whatever that is.

import { PlantStoreError } from './errors.ts';

/** Bounds of a query. They keep the cost of a search small; no search by a person comes near them. */
export const MAX_QUERY_CHARS = 1000;
export const MAX_QUERY_WORDS = 64;

/** Letters that differ from a plain one by a stroke or a dot only, which Unicode does not decompose. */
const PLAIN: Record<string, string> = { ø: 'o', ł: 'l', đ: 'd', ħ: 'h', ŧ: 't', ı: 'i', ς: 'σ' };
/** Accents, and what chooses between forms of a sign. */
const ACCENT = '\\u0300-\\u036f\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe00-\\ufe0f\\ufe20-\\ufe2f';
const ACCENTS = new RegExp(`[${ACCENT}]+`, 'g');
/** Runs of marks, and of the two letters that NFKD turns into a mark. */
const MARKS = new RegExp(`[\\p{M}${ACCENT}\\uff9e\\uff9f]+`, 'gu');
/** More marks of a run are ignored (no language has as many, UAX #15): normalizing sorts a run in quadratic time. */
const MAX_MARKS = 30;
/** The rest of a folded name is ignored: one sign can become 18 letters (U+FDFA). */
const MAX_FOLDED_CHARS = 64 * 1024;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;

const ASCII_WORD = /[0-9a-z]+/g;

export function wordsOf(text: string): string[] {
  return (isAscii(text) ? text.toLowerCase().match(ASCII_WORD) : fold(text).match(WORD)) ?? [];
}

/** Returns the words in ascending order, without those that begin another one. Throws `bad_parameter` beyond the bounds. */
export function queryWords(query: string): string[] {
  const words = query.length > MAX_QUERY_CHARS ? undefined : wordsOf(query);
  if (!words || words.length > MAX_QUERY_WORDS) {
    const bounds = `at most ${MAX_QUERY_CHARS} characters and ${MAX_QUERY_WORDS} words`;
    throw new PlantStoreError('bad_parameter', `"q" must have ${bounds}: search for fewer words`);
  }
  const sorted = words.sort(); // a word comes right before those that it begins
  return sorted.filter((word, at) => !sorted[at + 1]?.startsWith(word));
}

/** True if each wanted word begins a word of the name. `wanted` is a result of `queryWords`. */
export function hasWords(name: string, wanted: string[]): boolean {
  const missing = new Set(wanted);
  if (missing.size === 0) return true;
  for (const word of wordsOf(name)) {
    const begin = lastUpTo(wanted, word); // no other can begin it: none of them begins another
    if (begin !== undefined && word.startsWith(begin) && missing.delete(begin) && missing.size === 0) return true;
  }
  return false;
}

/** Returns the last of the sorted words that is not greater than `word`. */
function lastUpTo(sorted: string[], word: string): string | undefined {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as string) <= word) low = middle + 1;
    else high = middle;
  }
  return sorted[low - 1];
}

/** Returns at most so many characters (UTF-16 units) of the beginning, and no half of a character. */
export function cutText(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : text.slice(0, maxChars).replace(/\p{Surrogate}$/u, '');
}

export function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

/** By way of capitals, so that ß is ss; composed again, so that a syllable of Hangul stays one character. */
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
