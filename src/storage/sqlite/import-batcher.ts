// Group commit for imports: each plant is packed into a batch as soon as it arrives, so that the objects of queued
// plants do not stay in memory.

import type { Author, ImportResult, NewPlant } from '../../domain/plant.ts';
import { createPace } from '../../lib/event-loop-turns.ts';
import { idTaken, toError } from '../write-rules.ts';
import { createImagePacker, type ImagePacker, type Imported, type ImportImage } from './import-image.ts';

/** Limits on a batch. A larger batch would delay other writes. A smaller one raises the indexing cost of each plant. */
const MAX_PLANTS = 10_000;
const MAX_CHARS = 4 * 1024 * 1024;
/** Time without new plants after which a batch is stored. */
const QUIET_MS = 5;
/** Maximum number of batches of a thread in flight: one in its transaction, and one ready to follow. */
const MAX_IN_FLIGHT = 2;

interface Batch {
  by: Author;
  packer: ImagePacker;
  calls: Call[];
  plants: number;
  isReady: boolean;
}

interface Call {
  firstLine: number;
  count: number;
  resolve(result: ImportResult): void;
  reject(error: unknown): void;
}

export function createImportBatcher(store: (image: ImportImage, by: Author) => Promise<Imported>) {
  const waiting: Batch[] = [];
  let timer: NodeJS.Timeout | undefined;
  let inFlight = 0;
  let adding = Promise.resolve();

  return (plants: NewPlant[], by: Author): Promise<ImportResult> => {
    const { promise, resolve, reject } = Promise.withResolvers<ImportResult>();
    adding = adding.then(() => add(plants, by, { resolve, reject })).catch(reject);
    return promise;
  };

  /** Adds the plants of one call at a time, so that lines keep their order. Other work can run between two plants. */
  async function add(plants: NewPlant[], by: Author, settle: Pick<Call, 'resolve' | 'reject'>): Promise<void> {
    clearTimeout(timer);
    const batch = openBatch(by);
    const pace = createPace();
    for (const plant of plants) {
      await pace();
      batch.packer.add(plant);
    }
    batch.calls.push({ firstLine: batch.plants + 1, count: plants.length, ...settle });
    batch.plants += plants.length;
    if (batch.plants >= MAX_PLANTS || batch.packer.chars() >= MAX_CHARS) ready();
    else timer = setTimeout(ready, QUIET_MS);
  }

  /** Returns the last batch if it is open and has the same token, or a new one. */
  function openBatch(by: Author): Batch {
    const last = waiting.at(-1);
    if (last && !last.isReady && last.by.tokenId === by.tokenId) return last;
    ready();
    const batch: Batch = { by, packer: createImagePacker(), calls: [], plants: 0, isReady: false };
    waiting.push(batch);
    return batch;
  }

  function ready(): void {
    const last = waiting.at(-1);
    if (last) last.isReady = true;
    sendNext();
  }

  function sendNext(): void {
    while (inFlight < MAX_IN_FLIGHT && waiting[0]?.isReady) send(waiting.shift() as Batch);
  }

  async function send({ by, packer, calls }: Batch): Promise<void> {
    inFlight++;
    try {
      resolveCalls(calls, await store(packer.pack(), by));
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
    inFlight--;
    sendNext();
  }
}

/** Resolves each call with the result of its own plants. */
function resolveCalls(calls: Call[], { present }: Imported): void {
  let at = 0;
  for (const { firstLine, count, resolve } of calls) {
    const first = at;
    while (at < present.length && (present[at]?.line as number) < firstLine + count) at++;
    const own = present.slice(first, at);
    const errors = own
      .filter(({ same }) => !same)
      .map(({ line, id }) => ({ line: line - firstLine + 1, error: toError(idTaken(id)) }));
    const replayed = own.length - errors.length;
    resolve({ created: count - own.length, replayed, failed: errors.length, errors });
  }
}
