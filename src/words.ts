// How names are searched: each word of a query must begin a word of the name, whatever its case and accents.
// The one place that folds and splits, so that every database gives the same answer.

/** Letters that differ from a plain one by a stroke or a dot only, which Unicode does not decompose. */
const PLAIN: Record<string, string> = { ø: 'o', ł: 'l', đ: 'd', ħ: 'h', ŧ: 't', ı: 'i', ς: 'σ' };
/** Accents, and what chooses between forms of a sign. */
const ACCENTS = /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]+/g;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;

const ASCII_WORD = /[0-9a-z]+/g;

export function wordsOf(text: string): string[] {
  return (isAscii(text) ? text.toLowerCase().match(ASCII_WORD) : fold(text).match(WORD)) ?? [];
}

/** The words of a query, without those that another one implies: who finds "monstera" finds "mon". */
export function queryWords(query: string): string[] {
  const sorted = wordsOf(query).sort(); // a word comes right before those that it begins
  return sorted.filter((word, at) => !sorted[at + 1]?.startsWith(word));
}

/** `wanted` as queryWords gives them. */
export function hasWords(name: string, wanted: string[]): boolean {
  const words = wordsOf(name);
  return wanted.every((begin) => words.some((word) => word.startsWith(begin)));
}

export function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

/** By way of capitals, so that ß is ss; composed again, so that a syllable of Hangul stays one character. */
function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(ACCENTS, '')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKD')
    .replace(ACCENTS, '')
    .replace(/[øłđħŧıς]/g, (letter) => PLAIN[letter] ?? letter)
    .normalize('NFC');
}
