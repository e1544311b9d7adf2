// Keeps the table `name_order` up to date. Adding each name in the transaction of its write would write one more page
// for each plant: ten times the cost of the index on the updated time. So names are added together, when the store is
// quiet. A list by name finds the names that are still missing in the change log, unless they are too many.

import type { DatabaseSync } from 'node:sqlite';
import { unavailable } from '../../domain/errors.ts';
import { MAX_KEY_CHARS, MAX_UNITS_OF_KEY, nameKey } from '../../domain/name-search.ts';
import { isUnavailable } from '../../observability/bug-report.ts';
import type { CommitCounter } from '../commit-counter.ts';

/**
 * Maximum number of changes whose names are added in one transaction. Many at once take less time for each name, but
 * other writes wait for the whole transaction.
 */
const AT_ONCE = { quiet: 30_000, busy: 3000 };
/** Maximum total size of the names that are added in one transaction. */
const BYTES_AT_ONCE = 1024 * 1024;
/** Number of missing changes from which names are added while the store is quiet. */
const WORTHWHILE = 1000;
/** Number of missing changes from which names are also added while the store is busy. */
const URGENT = 5_000_000;
/** Limits on the missing changes that a list reads: their number, and the total size of their names. */
const READ_BY_LIST = { changes: 100, bytes: 64 * 1024 };
/** The same if the store cannot write, for example because the disk is full. */
const READ_WITHOUT_WRITES = { changes: 10_000, bytes: BYTES_AT_ONCE };
/** Interval for checking whether names are due, and the maximum number of changes in it in a quiet store. */
const CHECK_MS = 500;
const QUIET_CHANGES = 100;
/** Maximum time that a list waits. */
const MAX_WAIT_MS = 5000;

export function registerNameKey(db: DatabaseSync): void {
  db.function('name_key', { deterministic: true }, (name) => nameKey(name as string));
}

/** SQL for the keys and ids of the plants whose last change is `changes`. Its result is that of `nameKey`. */
const SELECT_KEYS = `
  SELECT iif(
    octet_length(plants.name) <= ${MAX_KEY_CHARS} AND octet_length(plants.name) = length(plants.name),
    lower(plants.name), name_key(substr(plants.name, 1, ${MAX_UNITS_OF_KEY}))
  ) AS key, plants.id
  FROM changes JOIN plants ON plants.id = changes.plant_id AND plants.seq = changes.seq`;

/** SQL for the entries that name_order lacks. It can also return existing entries. Requires `registerNameKey`. */
export const SELECT_MISSING = `${SELECT_KEYS} WHERE changes.seq > (SELECT names_to FROM numbering)`;

/** Returns a function that adds the names of the next changes, at most `atMost`, in the caller's transaction. */
export function prepareOrderNames(db: DatabaseSync, lastSeq: () => number): (atMost: number) => void {
  registerNameKey(db);
  const namesTo = prepareNamesTo(db);
  const endOfPart = db.prepare(`
    SELECT max(seq) AS seq FROM (
      SELECT seq, sum(bytes) OVER (ORDER BY seq) - bytes AS bytes_before FROM (
        SELECT seq, octet_length(name) AS bytes FROM changes WHERE seq > ? ORDER BY seq LIMIT ?
      )
    ) WHERE bytes_before <= ${BYTES_AT_ONCE}`);
  const addNames = db.prepare(`
    INSERT INTO name_order (key, id)
    ${SELECT_KEYS} WHERE changes.seq > ? AND changes.seq <= ? ORDER BY 1, 2
    ON CONFLICT DO NOTHING`);
  const setNamesTo = db.prepare('UPDATE numbering SET names_to = ?');

  return (atMost) => {
    const from = namesTo();
    const { seq } = endOfPart.get(from, atMost) as { seq: bigint | null };
    const to = seq === null ? lastSeq() : Number(seq);
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
  /** Adds the names of the next changes, at most `atMost`. */
  orderNames(atMost: number): Promise<unknown>;
  commits: CommitCounter;
  /** True if this thread adds names while the store is quiet. Only one thread of a process does. */
  addsWhenQuiet: boolean;
  reportBug(error: unknown): void;
}

/** Adds names while the store is quiet, and on request. `db` is a connection for reads. */
export function createNameOrder(db: DatabaseSync, options: NameOrderOptions) {
  const { lastSeq, orderNames, commits, addsWhenQuiet, reportBug } = options;
  const namesTo = prepareNamesTo(db);
  const missingBytes = db.prepare(
    'SELECT total(octet_length(name)) AS bytes FROM changes WHERE seq > (SELECT names_to FROM numbering)',
  );
  let adding: Promise<unknown> | undefined;
  let timer: NodeJS.Timeout | undefined;
  /** The newest change at the last check, and the number of changes to add at once since then. */
  let checkedSeq = lastSeq();
  let atOnce = addsWhenQuiet ? AT_ONCE.quiet : AT_ONCE.busy;
  let isClosed = false;
  if (addsWhenQuiet && missing() >= WORTHWHILE) addLater();
  else if (addsWhenQuiet) void addAfter(commits.value);

  return {
    /** Waits until few names are missing, which a list can find itself. Throws `unavailable` if too many remain. */
    async prepareList(): Promise<void> {
      if (isMissingWithin(READ_BY_LIST)) return;
      try {
        await addUpTo(lastSeq(), MAX_WAIT_MS);
      } catch (error) {
        if (!isUnavailable(error) || !isMissingWithin(READ_WITHOUT_WRITES)) throw error;
      }
    },
    /** Waits until the names of all earlier changes are in the order, however long that takes. */
    catchUp: () => addUpTo(lastSeq(), Number.POSITIVE_INFINITY),
    close(): void {
      isClosed = true;
      clearTimeout(timer);
    },
  };

  /** True if a list can read the missing names itself. */
  function isMissingWithin({ changes, bytes }: { changes: number; bytes: number }): boolean {
    return missing() <= changes && (missingBytes.get() as { bytes: number }).bytes <= bytes;
  }

  async function addUpTo(wanted: number, maxWaitMs: number): Promise<void> {
    const startedMs = performance.now();
    while (namesTo() < wanted) {
      if (performance.now() - startedMs > maxWaitMs) {
        throw unavailable('The order by name is being updated after many changes. Retry in a minute.');
      }
      await add();
    }
  }

  function add(): Promise<unknown> {
    adding ??= orderNames(atOnce).finally(() => {
      adding = undefined;
    });
    return adding;
  }

  function missing(): number {
    return lastSeq() - namesTo();
  }

  /** Checks whether names are due, some time after the commit that follows number `count`. */
  async function addAfter(count: number): Promise<void> {
    await commits.next(count);
    addLater();
  }

  function addLater(): void {
    if (!isClosed) timer = setTimeout(addWhenDue, CHECK_MS).unref();
  }

  /** Adds names in a quiet store, until none are missing or another write comes. */
  async function addWhenDue(): Promise<void> {
    const count = commits.value;
    const isQuiet = lastSeq() - checkedSeq <= QUIET_CHANGES;
    checkedSeq = lastSeq();
    atOnce = isQuiet ? AT_ONCE.quiet : AT_ONCE.busy;
    try {
      if (!isQuiet && missing() >= URGENT) await add();
      while (isQuiet && !isClosed && missing() >= WORTHWHILE && lastSeq() === checkedSeq) await add();
      if (!isClosed && missing() >= WORTHWHILE) return addLater();
    } catch (error) {
      // If the store cannot write now, every write reports it. The next commit tries again.
      if (!isUnavailable(error)) reportBug(error);
    }
    void addAfter(count);
  }
}
