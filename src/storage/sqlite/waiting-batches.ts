// The batches that wait in the writer thread. It chooses those that share the next transaction.

import type { MessagePort } from 'node:worker_threads';
import { charsOfWrite } from '../queue-room.ts';
import { MAX_BATCH_WRITES, unpackWrite, type WriteMessage } from './writer-messages.ts';
import type { Write } from './writes.ts';

/** Maximum characters of batches that share a transaction, as in a batch of an import. A single batch can have more. */
const MAX_SHARED_CHARS = 4 * 1024 * 1024;

/** A batch of one connection, which sends its next one after the result. */
export interface Batch {
  port: MessagePort;
  writes: Write[];
}

export class WaitingBatches {
  #batches: Batch[] = [];
  /** True if an import has its turn before other writes. */
  #isImportNext = false;

  get isEmpty(): boolean {
    return this.#batches.length === 0;
  }

  add(port: MessagePort, messages: WriteMessage[]): void {
    this.#batches.push({ port, writes: messages.map(unpackWrite) });
  }

  /** True if a batch of this connection waits. */
  has(port: MessagePort): boolean {
    return this.#batches.some((batch) => batch.port === port);
  }

  /**
   * Takes the batches of the next transaction out of those that wait. The plants of an import have a transaction of
   * their own, after which other writes have their turn.
   */
  takeNext(): Batch[] {
    const imported = this.#batches.find(isImport);
    const isAlone = this.#batches.every(isImport);
    const taken = imported && (this.#isImportNext || isAlone) ? [imported] : this.#chooseShared();
    this.#isImportNext = taken[0] !== imported;
    this.#batches = this.#batches.filter((batch) => !taken.includes(batch));
    return taken;
  }

  /** Returns the first batch that is not of an import, and others that can share its transaction. */
  #chooseShared(): Batch[] {
    let [writes, chars] = [0, 0];
    return this.#batches.filter((batch) => {
      if (isImport(batch)) return false;
      const withWrites = writes + batch.writes.length;
      const withChars = chars + charsOf(batch);
      if (writes > 0 && (withWrites > MAX_BATCH_WRITES || withChars > MAX_SHARED_CHARS)) return false;
      [writes, chars] = [withWrites, withChars];
      return true;
    });
  }
}

function isImport({ writes }: Batch): boolean {
  return writes[0]?.kind === 'create_plants';
}

function charsOf({ writes }: Batch): number {
  return writes.reduce((sum, write) => sum + charsOfWrite(write), 0);
}
