// Group commit: writes that arrive while others are under way wait and share the next transaction, which is one round
// trip. Several may be under way; writes to one id are done one after the other, in the order in which they came.

import { unavailable } from '../../domain/errors.ts';
import type { Observe } from '../../observability/service-events.ts';
import { type PlantWrite, toError } from '../write-rules.ts';
import { createWorkOff, type Waiting, type Written } from './commit-batch.ts';
import type { Transactions } from './transaction.ts';

/** Its words are indexed, too: of long names fewer fit into the time that a transaction has. */
const MAX_BATCH = { ids: 1000, chars: 1024 * 1024 };
/** Beyond this, two at once are faster than one that is larger, until very many wait. */
const GOOD_BATCH_IDS = 128;
const VERY_MANY = 4 * GOOD_BATCH_IDS;
/** Of an import, which has one batch at a time under way, so that its changes are numbered as its lines are. */
const MAX_IMPORT = { ids: 5000, chars: 256 * 1024 };
/** Past either bound a write is turned away: the database cannot keep up, and waiting longer helps nobody. */
const MAX_WAITING_WRITES = 10_000;
const MAX_WAITING_CHARS = 16 * 1024 * 1024;
/** So many are worth a transaction beside another one; fewer wait, but not for long. */
const WORTH_ANOTHER = 32;
const WAIT_MS = 5;

interface Queued extends Waiting {
  of: 'request' | 'import';
}

/** All that waits for one id. */
interface Lane {
  id: bigint;
  queue: Queued[];
}

export interface Writer {
  write(write: PlantWrite): Promise<unknown>;
  /** Of an import: does not count against the bounds, as its caller hands in only so many. */
  writeMany(writes: PlantWrite[]): Promise<Written[]>;
  /** So many are not in a transaction yet. */
  waiting(): number;
  /** Ends when everything handed in before is done. */
  close(): Promise<void>;
}

export interface WriterOptions {
  transactions: Transactions;
  observe: Observe;
  maxTransactions: number;
  /** After each commit; `changed` when it made changes. */
  onCommit(changed: boolean): void;
  /** What is told to who wanted to write. */
  toError(error: unknown): Error;
}

export function createWriter(options: WriterOptions): Writer {
  const { transactions, maxTransactions, observe, onCommit, toError: toOwnError } = options;
  /** Those with an id that nobody else is at. */
  const ready: Record<Queued['of'], Lane[]> = { request: [], import: [] };
  const lanes = new Map<bigint, Lane>();
  let underWay = 0;
  let importing = false;
  let isImportsTurn = false;
  let queuedWrites = 0;
  let waitingChars = 0;
  let scheduled = false;
  let timed = false;
  let closing = false;
  const idle = Promise.withResolvers<void>();
  const workOff = createWorkOff({
    transactions,
    observe,
    onCommit,
    toError: toOwnError,
  });

  return {
    write(write) {
      const chars = charsOf(write);
      if (closing) return Promise.reject(unavailable('The store is stopping: try again later'));
      if (queuedWrites >= MAX_WAITING_WRITES || waitingChars + chars > MAX_WAITING_CHARS) {
        return Promise.reject(unavailable('Too many writes are waiting: try again later'));
      }
      queuedWrites++;
      waitingChars += chars;
      return new Promise((resolve, reject) => {
        enqueue(write, 'request', (written) => {
          queuedWrites--;
          waitingChars -= chars;
          if (written instanceof Error) reject(written);
          else if ('done' in written) resolve(written.done);
          else reject(toError(written));
        });
      });
    },
    writeMany(writes) {
      if (closing) return Promise.reject(unavailable('The store is stopping: try again later'));
      if (writes.length === 0) return Promise.resolve([]);
      const results: Written[] = [];
      let left = writes.length;
      return new Promise((resolve) => {
        for (const [at, write] of writes.entries()) {
          enqueue(write, 'import', (written) => {
            results[at] = written;
            if (--left === 0) resolve(results);
          });
        }
      });
    },
    waiting: () => ready.request.length + ready.import.length,
    close() {
      closing = true;
      if (lanes.size === 0) idle.resolve();
      return idle.promise;
    },
  };

  function enqueue(write: PlantWrite, of: Queued['of'], settle: Queued['settle']): void {
    const lane = lanes.get(write.id);
    if (lane) {
      lane.queue.push({ write, of, settle });
      return;
    }
    const own = { id: write.id, queue: [{ write, of, settle }] };
    lanes.set(write.id, own);
    ready[of].push(own);
    schedule();
  }

  /** At the end of this turn of the event loop: all requests read in it share one transaction. */
  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      startBatches(WORTH_ANOTHER);
    });
  }

  function startBatches(worthAnother: number): void {
    while (underWay < maxTransactions) {
      const isWorth = ready.request.length > 0 && (underWay === 0 || ready.request.length >= worthAnother);
      const canImport = ready.import.length > 0 && !importing;
      if (canImport && (isImportsTurn || !isWorth)) startImport();
      else if (isWorth) startRequests();
      else break;
    }
    if (timed || ready.request.length === 0 || underWay >= maxTransactions) return;
    timed = true;
    setTimeout(() => {
      timed = false;
      startBatches(1);
    }, WAIT_MS);
  }

  function startRequests(): void {
    isImportsTurn = true;
    const ids = Math.min(
      MAX_BATCH.ids,
      Math.ceil((GOOD_BATCH_IDS * Math.max(ready.request.length, VERY_MANY)) / VERY_MANY),
    );
    void runBatch(takeBatch('request', { ...MAX_BATCH, ids }));
  }

  function startImport(): void {
    isImportsTurn = false;
    importing = true;
    void runBatch(takeBatch('import', MAX_IMPORT)).then(() => {
      importing = false;
      schedule();
    });
  }

  function takeBatch(of: Queued['of'], max: { ids: number; chars: number }): Lane[] {
    let chars = 0;
    const end = ready[of].findIndex(({ queue }, at) => {
      chars += charsOf((queue[0] as Queued).write);
      return at >= max.ids || (at > 0 && chars > max.chars);
    });
    return ready[of].splice(0, end === -1 ? ready[of].length : end);
  }

  async function runBatch(batch: Lane[]): Promise<void> {
    underWay++;
    await workOff(batch.map((lane) => ({ id: lane.id, queue: lane.queue.splice(0), finish: () => release(lane) })));
    underWay--;
    if (closing && lanes.size === 0) idle.resolve();
    else schedule();
  }

  function release(lane: Lane): void {
    const next = lane.queue[0];
    if (next) {
      ready[next.of].push(lane);
      schedule();
    } else lanes.delete(lane.id);
  }
}

function charsOf(write: PlantWrite): number {
  if (write.kind === 'delete') return 0;
  const { name, tag } = write.kind === 'patch' ? write.patch : write.plant;
  return (name?.length ?? 0) + (tag?.length ?? 0);
}
