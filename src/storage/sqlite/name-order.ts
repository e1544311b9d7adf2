// Keeps the table `name_order` up to date. Adding each name in the transaction of its write would write one more page
// for each plant: ten times the cost of the index on the updated time. So names are added together, when the store is
// idle, and before a list by name is read.

import type { DatabaseSync } from 'node:sqlite';
import { unavailable } from '../../domain/errors.ts';
import { MAX_KEY_CHARS, nameKey } from '../../domain/name-search.ts';

/** Maximum number of changes whose names are added in one transaction. */
const CHANGES_AT_ONCE = 10_000;
/** Number of missing changes from which names are added while the store is idle. Fewer are added before a list. */
const WORTHWHILE = 1000;
const IDLE_MS = 500;
/** Maximum time that a list waits. */
const MAX_WAIT_MS = 5000;

export function registerNameKey(db: DatabaseSync): void {
  db.function('name_key', { deterministic: true }, (name) => nameKey(name as string));
}

/** Returns a function that adds the names of the next changes in the caller's transaction. */
export function prepareOrderNames(db: DatabaseSync, lastSeq: () => number): () => void {
  registerNameKey(db);
  const namesTo = prepareNamesTo(db);
  const endOfPart = db.prepare('SELECT seq FROM changes WHERE seq > ? ORDER BY seq LIMIT 1 OFFSET ?');
  const addNames = db.prepare(`
    INSERT INTO name_order (key, id)
    SELECT iif(
      octet_length(plants.name) = length(plants.name) AND length(plants.name) <= ${MAX_KEY_CHARS},
      lower(plants.name), name_key(plants.name)
    ), plants.id
    FROM changes JOIN plants ON plants.id = changes.plant_id AND plants.seq = changes.seq
    WHERE changes.seq > ? AND changes.seq <= ? ORDER BY 1, 2
    ON CONFLICT DO NOTHING`);
  const setNamesTo = db.prepare('UPDATE numbering SET names_to = ?');

  return () => {
    const from = namesTo();
    const part = endOfPart.get(from, CHANGES_AT_ONCE - 1) as { seq: bigint } | undefined;
    const to = part ? Number(part.seq) : lastSeq();
    addNames.run(from, to);
    setNamesTo.run(to);
  };
}

function prepareNamesTo(db: DatabaseSync): () => number {
  const namesTo = db.prepare('SELECT names_to FROM numbering');
  return () => Number((namesTo.get() as { names_to: number | bigint }).names_to);
}

export interface NameOrderOptions {
  lastSeq(): number;
  /** Adds the names of the next changes. */
  orderNames(): Promise<unknown>;
  /** True if no write is waiting. */
  isIdle(): boolean;
}

/** Adds names while the store is idle, and on request. `db` is a connection for reads. */
export function createNameOrder(db: DatabaseSync, { lastSeq, orderNames, isIdle }: NameOrderOptions) {
  const namesTo = prepareNamesTo(db);
  let adding: Promise<unknown> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  return {
    /** Must be called after each commit. */
    onCommit(): void {
      if (timer) timer.refresh();
      else timer = setTimeout(addWhileIdle, IDLE_MS).unref();
    },
    /** Waits until the names of all earlier changes are in the order. Throws `unavailable` if that takes too long. */
    async catchUp(): Promise<void> {
      const wanted = lastSeq();
      const startedMs = performance.now();
      while (namesTo() < wanted) {
        if (performance.now() - startedMs > MAX_WAIT_MS) {
          throw unavailable('The order by name is being updated after many changes. Retry in a minute.');
        }
        await add();
      }
    },
    close(): void {
      isClosed = true;
      clearTimeout(timer);
    },
  };

  function add(): Promise<unknown> {
    adding ??= orderNames().finally(() => {
      adding = undefined;
    });
    return adding;
  }

  async function addWhileIdle(): Promise<void> {
    try {
      while (!isClosed && isIdle() && lastSeq() - namesTo() >= WORTHWHILE) await add();
    } catch {
      // The store cannot write now, which every write reports. The next commit tries again.
    }
  }
}
