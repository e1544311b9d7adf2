// Group commit for imports: plants that arrive one after the other are packed together at once, and are one batch.
// What they were as objects is soon forgotten, however many wait.

import { PlantStoreError } from '../error.ts';
import type { Author, ImportResult, NewPlant } from '../plant.ts';
import { createPacker, type Image, type Imported } from './batch.ts';
import { idTaken } from './write.ts';

/** Then a batch goes its way. More would hold up what others write in between, fewer cost the index more each. */
const MAX_PLANTS = 10_000;
/** As long as more keep coming, it waits for them. */
const QUIET_MS = 5;

export type Stage = (plants: NewPlant[], by: Author) => Promise<ImportResult>;

interface Call {
  firstLine: number;
  count: number;
  resolve(result: ImportResult): void;
  reject(error: unknown): void;
}

export function createStage(store: (image: Image, by: Author) => Promise<Imported>): Stage {
  const packer = createPacker();
  let calls: Call[] = [];
  let staged = 0;
  let author: Author | undefined;
  let timer: NodeJS.Timeout | undefined;

  return (plants, by) => {
    if (author && author.tokenId !== by.tokenId) send();
    author = by;
    const { promise, resolve, reject } = Promise.withResolvers<ImportResult>();
    packer.add(plants);
    calls.push({ firstLine: staged + 1, count: plants.length, resolve, reject });
    staged += plants.length;
    clearTimeout(timer);
    if (staged >= MAX_PLANTS) send();
    else timer = setTimeout(send, QUIET_MS);
    return promise;
  };

  function send(): void {
    if (!author || calls.length === 0) return;
    const theirs = calls;
    calls = [];
    staged = 0;
    store(packer.pack(), author).then(
      (imported) => answer(theirs, imported),
      (error) => {
        for (const { reject } of theirs) reject(error);
      },
    );
  }
}

/** To each call what became of its own plants. */
function answer(calls: Call[], { present }: Imported): void {
  let at = 0;
  for (const { firstLine, count, resolve } of calls) {
    const first = at;
    while (at < present.length && (present[at]?.line as number) < firstLine + count) at++;
    const own = present.slice(first, at);
    const errors = own
      .filter(({ same }) => !same)
      .map(({ line, id }) => ({ line: line - firstLine + 1, error: new PlantStoreError('id_taken', idTaken(id)) }));
    const replayed = own.length - errors.length;
    resolve({ created: count - own.length, replayed, failed: errors.length, errors });
  }
}
