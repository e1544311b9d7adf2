// Every word of the names: so the words with a beginning are found without the index of words, which reads all entries
// of one word to get to the next. A word that the last plant has lost is removed.

import type { DatabaseSync } from 'node:sqlite';
import { wordsIn } from './search.ts';
import { createVocabulary } from './search-words.ts';

/** Time for which words are checked in one transaction. */
const CHECK_MS = 5;
/** Checking pauses for this many times as long as it took: a word with many deleted plants takes long. */
const PAUSE = 20;
const MAX_DOUBTED = 100_000;

/** Words that a plant has lost and that are not checked yet. It outlives the statements, which an import ends. */
const doubted = new Set<string>();

export interface Dictionary {
  /** Notes the words of a name, to be written with those of others. */
  learn(name: string): void;
  /** Notes the words of a name that a plant no longer has. */
  doubt(name: string): void;
  /** The caller holds the transaction; if that fails, what was learned is wrong, and the dictionary has to be taken anew. */
  write(): void;
}

export function prepareDictionary(db: DatabaseSync): Dictionary {
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
    learn(name) {
      vocabulary.note(name);
    },
    doubt(name) {
      for (const word of wordsIn(name)) if (doubted.size < MAX_DOUBTED) doubted.add(word);
    },
    write() {
      const words = vocabulary.take();
      if (words.length > 0) insertWords.run(JSON.stringify(words));
      if (doubted.size > 0) removeUnused();
    },
  };

  /** After the index is written. */
  function removeUnused(): void {
    if (!anyPlant.get()) {
      db.exec(`INSERT INTO words (words) VALUES ('delete-all'); DELETE FROM dictionary`);
      doubted.clear();
      vocabulary.forget();
      return;
    }
    const begunMs = performance.now();
    if (begunMs < pausedUntilMs) return;
    for (const word of doubted) {
      doubted.delete(word);
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
