// Every word that a name has had: so the words with a beginning are found without the index of words, which reads all
// entries of one word to get to the next.

import type { DatabaseSync } from 'node:sqlite';
import { createVocabulary } from './vocabulary.ts';

export interface Dictionary {
  /** Notes the words of a name, to be written with those of others. */
  learn(name: string): void;
  /** The caller holds the transaction; if that fails, what was learned is wrong, and the dictionary has to be taken anew. */
  write(): void;
}

export function prepareDictionary(db: DatabaseSync): Dictionary {
  const insertWords = db.prepare(
    'INSERT INTO dictionary (word) SELECT value FROM json_each(?) WHERE true ORDER BY value ON CONFLICT DO NOTHING',
  );
  const vocabulary = createVocabulary();

  return {
    learn(name) {
      vocabulary.note(name);
    },
    write() {
      const words = vocabulary.take();
      if (words.length > 0) insertWords.run(JSON.stringify(words));
    },
  };
}
