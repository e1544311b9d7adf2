// Group commit: writes that arrive while others are in progress are queued and share the next transaction. Each
// transaction is one round trip. Several can be in progress.

import type { ImportError } from '../../domain/plant.ts';
import type { Store } from '../../domain/store.ts';
import { oncePerTurn } from '../../lib/once-per-turn.ts';
import { charsOfWrite, type QueueRoom } from '../queue-room.ts';
import { storeStopping } from '../store-errors.ts';
import { type PlantWrite, type Results, toError } from '../write-rules.ts';
import { type CommitBatchOptions, commitBatch } from './commit-batch.ts';
import { type WriteGroup, WriteQueue, type Written } from './write-queue.ts';

/** Limits of a transaction. It also indexes words, so fewer plants with long names fit into the statement timeout. */
const MAX_BATCH = { ids: 1000, chars: 1024 * 1024 };
/** Size beyond which two transactions are faster than a larger one, unless VERY_MANY writes are queued. */
const GOOD_BATCH_IDS = 128;
const VERY_MANY = 4 * GOOD_BATCH_IDS;
/** Limits of an import's transaction. Imports have one transaction at a time, so changes are in the order of lines. */
const MAX_IMPORT = { ids: 5000, chars: 256 * 1024 };
/** Minimum number of writes for a concurrent transaction. Fewer writes stay queued for at most MAX_WAIT_MS. */
const WORTH_ANOTHER = 32;
const MAX_WAIT_MS = 5;

export interface GroupCommitOptions extends CommitBatchOptions {
  maxTransactions: number;
  room: QueueRoom;
}

export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #idle = Promise.withResolvers<void>();
  /** Starts batches at the end of this turn of the event loop, so that all requests read in it share a transaction. */
  readonly #schedule = oncePerTurn(() => this.#startBatches(WORTH_ANOTHER));
  readonly #queue = new WriteQueue(this.#schedule);
  #inProgress = 0;
  #isImporting = false;
  #isImportsTurn = false;
  #isTimed = false;
  #isClosing = false;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  write<W extends PlantWrite>(write: W): Promise<Results[W['kind']]> {
    return new Promise((resolve, reject) => {
      if (this.#isClosing) throw storeStopping();
      const chars = charsOfWrite(write);
      const { room } = this.#options;
      room.take(chars);
      const settle = (written: Written) => {
        room.free(1, chars);
        if (written instanceof Error) reject(written);
        else if ('done' in written) resolve(written.done as Results[W['kind']]);
        else reject(toError(written));
      };
      this.#queue.add({ write, source: 'request', settle });
    });
  }

  /** Queues the writes of an import. They do not count towards the queue limits, because the caller limits them. */
  async writeMany(writes: PlantWrite[]): Promise<Written[]> {
    if (this.#isClosing) throw storeStopping();
    const add = (write: PlantWrite) =>
      new Promise<Written>((settle) => this.#queue.add({ write, source: 'import', settle }));
    return Promise.all(writes.map(add));
  }

  /** Rejects new writes. Resolves when all earlier writes are settled. */
  close(): Promise<void> {
    this.#isClosing = true;
    if (this.#queue.isEmpty) this.#idle.resolve();
    return this.#idle.promise;
  }

  #startBatches(worthAnother: number): void {
    const { maxTransactions } = this.#options;
    while (this.#inProgress < maxTransactions) {
      const requests = this.#queue.ready('request');
      const isWorth = requests > 0 && (this.#inProgress === 0 || requests >= worthAnother);
      const canImport = this.#queue.ready('import') > 0 && !this.#isImporting;
      if (canImport && (this.#isImportsTurn || !isWorth)) void this.#runImport();
      else if (isWorth) void this.#runRequests();
      else break;
    }
    if (this.#isTimed || this.#queue.ready('request') === 0 || this.#inProgress >= maxTransactions) return;
    this.#isTimed = true;
    setTimeout(() => {
      this.#isTimed = false;
      this.#startBatches(1);
    }, MAX_WAIT_MS);
  }

  #runRequests(): Promise<void> {
    this.#isImportsTurn = true;
    const waiting = Math.max(this.#queue.ready('request'), VERY_MANY);
    const ids = Math.min(MAX_BATCH.ids, Math.ceil((GOOD_BATCH_IDS * waiting) / VERY_MANY));
    return this.#run(this.#queue.take('request', { ...MAX_BATCH, ids }));
  }

  async #runImport(): Promise<void> {
    this.#isImportsTurn = false;
    this.#isImporting = true;
    await this.#run(this.#queue.take('import', MAX_IMPORT));
    this.#isImporting = false;
  }

  async #run(batch: WriteGroup[]): Promise<void> {
    this.#inProgress++;
    await commitBatch(this.#options, batch);
    this.#inProgress--;
    if (this.#isClosing && this.#queue.isEmpty) this.#idle.resolve();
    else this.#schedule();
  }
}

/** Returns the import of a store, which settles each line by its own write. */
export function createImport(groupCommit: GroupCommit, clock: () => number): Store['import'] {
  return async (plants, { tokenId }) => {
    const by = { tokenId, nowMs: clock() };
    const all = await groupCommit.writeMany(plants.map((plant) => ({ kind: 'create', id: plant.id, plant, ...by })));
    const errors: ImportError[] = [];
    let created = 0;
    for (const [at, written] of all.entries()) {
      if (written instanceof Error) throw written;
      if ('rejected' in written) errors.push({ line: at + 1, error: toError(written) });
      else if (!(written.done as Results['create']).replayed) created++;
    }
    return { created, replayed: plants.length - created - errors.length, failed: errors.length, errors };
  };
}
