// The words of many names, each once, as the index has them. Nearly all were seen before: of an ASCII name these are
// recognised where they stand. To make a text of each first takes four times as long, a sixth of an import.

import { isAsciiOfWord, MAX_WORD_CHARS, wordsIn } from './search.ts';

/** So many are remembered. */
const MAX_KNOWN = 20_000;

export interface Vocabulary {
  /** Returns the words of the name, or undefined if `isPlainName` holds. */
  note(name: string): string[] | undefined;
  /** Those that are new since the last time; one that was seen long ago may be among them again. */
  take(): string[];
  /** Number of words that `take` would give. */
  fresh(): number;
  /** From now on each word is new again. */
  forget(): void;
}

export function createVocabulary(): Vocabulary {
  /** As they were written, by a hash; of two that share one, the last. */
  const known = new Map<number, string>();
  const knownOthers = new Set<string>();
  let fresh: string[] = [];

  return {
    note(name) {
      if (known.size + knownOthers.size >= MAX_KNOWN) forget();
      if (notePlain(name)) return undefined;
      const words = wordsIn(name);
      for (const word of words) noteOther(word);
      return words;
    },
    take() {
      const words = fresh;
      fresh = [];
      return words;
    },
    fresh: () => fresh.length,
    forget,
  };

  function forget(): void {
    known.clear();
    knownOthers.clear();
  }

  /** False if the name is not plain: then the words from the first other character on are not noted. */
  function notePlain(name: string): boolean {
    let begin = -1;
    let hash = 0;
    for (let at = 0; at <= name.length; at++) {
      const code = name.charCodeAt(at); // NaN at the end
      if (code > 0x7f) return false;
      if (isAsciiOfWord(code)) {
        if (begin === -1) begin = at;
        hash = (Math.imul(hash, 31) + code) | 0;
      } else if (begin !== -1) {
        if (at - begin > MAX_WORD_CHARS) return false;
        noteWord(name, begin, at, hash);
        begin = -1;
        hash = 0;
      }
    }
    return true;
  }

  function noteWord(name: string, begin: number, end: number, hash: number): void {
    const word = known.get(hash);
    if (word?.length === end - begin && name.startsWith(word, begin)) return;
    const unknown = name.slice(begin, end);
    known.set(hash, unknown);
    fresh.push(unknown.toLowerCase());
  }

  function noteOther(word: string): void {
    if (knownOthers.has(word)) return;
    knownOthers.add(word);
    fresh.push(word);
  }
}
