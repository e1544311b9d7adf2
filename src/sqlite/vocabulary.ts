// The words of many names, each once, as the index has them. Nearly all were seen before: of an ASCII name these are
// recognised where they stand. To make a text of each first takes four times as long, a sixth of an import.

import { MAX_INDEXED_CHARS, wordsIn } from './search.ts';

/** So many are remembered. */
const MAX_KNOWN = 20_000;

export interface Vocabulary {
  /** True when it is ASCII. */
  note(name: string): boolean;
  /** Those that are new since the last time; one that was seen long ago may be among them again. */
  take(): string[];
}

export function createVocabulary(): Vocabulary {
  /** As they were written, by a hash; of two that share one, the last. */
  const known = new Map<number, string>();
  const knownOthers = new Set<string>();
  let fresh: string[] = [];

  return {
    note(name) {
      if (known.size + knownOthers.size >= MAX_KNOWN) {
        known.clear();
        knownOthers.clear();
      }
      const isAscii = noteAscii(name);
      if (!isAscii) for (const word of wordsIn(name)) noteOther(word);
      return isAscii;
    },
    take() {
      const words = fresh;
      fresh = [];
      return words;
    },
  };

  /** False when it is not ASCII: then what is behind its first other letter is not noted. */
  function noteAscii(name: string): boolean {
    let begin = -1;
    let hash = 0;
    for (let at = 0; at <= name.length; at++) {
      const code = name.charCodeAt(at); // NaN at the end
      if (code > 0x7f) return false;
      const letter = code | 0x20; // a capital as a small one
      if ((letter >= 0x61 && letter <= 0x7a) || (code >= 0x30 && code <= 0x39)) {
        if (begin === -1) begin = at;
        hash = (Math.imul(hash, 31) + code) | 0;
      } else if (begin !== -1) {
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
    fresh.push(unknown.slice(0, MAX_INDEXED_CHARS).toLowerCase());
  }

  function noteOther(word: string): void {
    if (knownOthers.has(word)) return;
    knownOthers.add(word);
    fresh.push(word);
  }
}
