// Every word that a name has had: so the words with a beginning are found without the index of words, which reads all
// entries of one word to get to the next.

import type { DatabaseSync } from 'node:sqlite';
import { wordsIn } from './search.ts';

/** So many words are remembered to be there. */
const MAX_KNOWN = 20_000;

/** Gives a function that adds the words of a name. The caller holds the transaction; one that fails takes it anew. */
export function prepareLearn(db: DatabaseSync): (name: string) => void {
  const insertWord = db.prepare('INSERT INTO dictionary (word) VALUES (?) ON CONFLICT DO NOTHING');
  const known = new Set<string>();

  return (name) => {
    for (const word of wordsIn(name)) {
      if (known.has(word)) continue;
      insertWord.run(word);
      if (known.size >= MAX_KNOWN) known.clear();
      known.add(word);
    }
  };
}
