// The words of names, and the table `dictionary` that holds each of them once: so the words with a beginning are found
// without the index of words, which reads all entries of one word to get to the next.

import type { DatabaseSync } from 'node:sqlite';
import { isAsciiOfWord, MAX_WORD_CHARS, wordsIn } from './search.ts';

/** Number of words that are remembered as written. */
const MAX_KNOWN = 20_000;
/** Time for which words are checked in one transaction. */
const CHECK_MS = 5;
/** Checking pauses for this many times as long as it took: a word with many deleted plants takes long. */
const PAUSE = 20;
const MAX_LOST = 100_000;

/**
 * Returns the words of many names, each once, as the index has them. Nearly all were seen before: of an ASCII name these
 * are recognized where they stand. To make a text of each first takes four times as long, a sixth of an import.
 */
export function createVocabulary() {
  /** As they were written, by a hash; of two that share one, the last. */
  const known = new Map<number, string>();
  const knownOthers = new Set<string>();
  let fresh: string[] = [];

  return {
    /** Returns the words of the name, or undefined if `isPlainName` holds. */
    note(name: string): string[] | undefined {
      if (known.size + knownOthers.size >= MAX_KNOWN) forget();
      if (notePlain(name)) return undefined;
      const words = wordsIn(name);
      for (const word of words.filter((one) => !knownOthers.has(one))) {
        knownOthers.add(word);
        fresh.push(word);
      }
      return words;
    },
    /** Returns those that are new since the last time; one that was seen long ago may be among them again. */
    take(): string[] {
      const words = fresh;
      fresh = [];
      return words;
    },
    /** Returns the number of words that `take` would give. */
    fresh: () => fresh.length,
    forget,
  };

  /** From now on each word is new again. */
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
}

/** `lostWords` are words that a plant has lost and that are not checked yet. */
export function prepareDictionary(db: DatabaseSync, lostWords: Set<string>) {
  const insertWords = db.prepare(
    'INSERT INTO dictionary (word) SELECT value FROM json_each(?) WHERE true ORDER BY value ON CONFLICT DO NOTHING',
  );
  const anyPlant = db.prepare('SELECT 1 FROM plants LIMIT 1');
  /** From the last: the first plants of a word are mostly the first to be deleted. */
  const plantWith = db.prepare('SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT 1');
  const deleteWord = db.prepare('DELETE FROM dictionary WHERE word = ?');
  const vocabulary = createVocabulary();
  let pausedUntilMs = 0;

  return {
    /** Notes the words of a name, to be written with those of others. */
    learn(name: string): void {
      vocabulary.note(name);
    },
    /** Notes the words of a name that a plant no longer has: a word that the last plant has lost is removed. */
    doubt(name: string): void {
      for (const word of wordsIn(name)) if (lostWords.size < MAX_LOST) lostWords.add(word);
    },
    /** The caller holds the transaction; if that fails, what was learned is wrong, and the dictionary has to be taken anew. */
    write(): void {
      const words = vocabulary.take();
      if (words.length > 0) insertWords.run(JSON.stringify(words));
      if (lostWords.size > 0) removeUnused();
    },
  };

  /** After the index is written. */
  function removeUnused(): void {
    if (!anyPlant.get()) {
      db.exec(`INSERT INTO words (words) VALUES ('delete-all'); DELETE FROM dictionary`);
      lostWords.clear();
      vocabulary.forget();
      return;
    }
    const begunMs = performance.now();
    if (begunMs < pausedUntilMs) return;
    for (const word of lostWords) {
      lostWords.delete(word);
      if (!plantWith.get(`"${word}"`)) {
        deleteWord.run(word);
        vocabulary.forget(); // or it would not be written again
      }
      if (performance.now() - begunMs > CHECK_MS) break;
    }
    const nowMs = performance.now();
    pausedUntilMs = nowMs + PAUSE * (nowMs - begunMs);
  }
}
