// Maintains the table `dictionary`, which holds each word of all names once. A search looks up the words with a prefix
// there. The index `words` would have to read all entries of one word to reach the next.

import type { DatabaseSync } from 'node:sqlite';
import { isAsciiOfWord, MAX_WORD_CHARS, wordsIn } from './search.ts';

/** Maximum number of words that a vocabulary holds. */
const MAX_KNOWN = 20_000;
/** Maximum time for checking lost words in one transaction. */
const CHECK_MS = 5;
/** Pause between checks, as a multiple of the last check's duration. A word with many deleted plants takes long. */
const PAUSE = 20;
const MAX_LOST = 100_000;

/**
 * Collects the distinct words of many names, as the index stores them. Nearly all words were seen before. In an ASCII
 * name they are recognized in place. Creating a string for each word first takes four times as long: a sixth of an
 * import's time.
 */
export function createVocabulary() {
  /** Words as written in names, by hash. If two words share a hash, the map holds the later one. */
  const known = new Map<number, string>();
  const knownOthers = new Set<string>();
  let fresh: string[] = [];

  return {
    /** Words that a plant has lost and that are not checked yet. */
    lost: new Set<string>(),
    /** Notes the words of a name. Returns them, or undefined if `isPlainName` is true. */
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
    /** Returns the new words since the last call. A word that was seen long ago may be returned again. */
    take(): string[] {
      const words = fresh;
      fresh = [];
      return words;
    },
    /** Returns the number of words that `take` would return. */
    fresh: () => fresh.length,
    forget,
    /** Must be called if the words that were returned or noted were not stored. */
    reset(): void {
      forget();
      fresh = [];
    },
  };

  /** Removes all words, so that each counts as new again. */
  function forget(): void {
    known.clear();
    knownOthers.clear();
  }

  /** Notes the words of a plain name. Returns false if the name is not plain, with only some of its words noted. */
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

export type Vocabulary = ReturnType<typeof createVocabulary>;

/** Prepares writes to the dictionary. */
export function prepareDictionary(db: DatabaseSync, vocabulary: Vocabulary) {
  const insertWords = db.prepare(
    'INSERT INTO dictionary (word) SELECT value FROM json_each(?) WHERE true ORDER BY value ON CONFLICT DO NOTHING',
  );
  const anyPlant = db.prepare('SELECT 1 FROM plants LIMIT 1');
  /** Searches from the last plant, because the first plants with a word are usually deleted first. */
  const plantWith = db.prepare('SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT 1');
  const deleteWord = db.prepare('DELETE FROM dictionary WHERE word = ?');
  const { lost: lostWords } = vocabulary;
  let pausedUntilMs = 0;

  return {
    /** Notes the words of a name for the next `write`. */
    learn(name: string): void {
      vocabulary.note(name);
    },
    /** Notes the words of a name that a plant has lost. A word that no other plant has is removed later. */
    doubt(name: string): void {
      for (const word of wordsIn(name)) if (lostWords.size < MAX_LOST) lostWords.add(word);
    },
    /** Writes in the caller's transaction. If that fails, the caller resets the vocabulary. */
    write(): void {
      const words = vocabulary.take();
      if (words.length > 0) insertWords.run(JSON.stringify(words));
      if (lostWords.size > 0) removeUnused();
    },
  };

  /** Removes unused words. Must run after the index is written. */
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
        vocabulary.forget(); // otherwise the word would not be written again
      }
      if (performance.now() - begunMs > CHECK_MS) break;
    }
    const nowMs = performance.now();
    pausedUntilMs = nowMs + PAUSE * (nowMs - begunMs);
  }
}
