// Follows the change log: yields pages of the existing changes, then of new changes after their commits.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Change, ChangeQuery, ChangeStore } from '../domain/change.ts';
import { charsOf } from '../domain/page-size.ts';
import type { CommitCounter } from './commit-counter.ts';

/** Interval for polling the change log for commits by other processes. */
const POLL_MS = 500;
/** Limits on the memory that each follower uses. A server can have many followers. */
const CHANGES_AT_ONCE = 500;
const CHARS_AT_ONCE = 64 * 1024;
/** Time for which an up-to-date follower collects commits, so that it does not read after each one. */
const GATHER_MS = 20;
/** Time for which all followers share a page, unless a commit is counted. */
const FRESH_MS = 50;

type ReadChanges = (query: ChangeQuery) => Promise<Change[]>;

/** Returns the function that follows the change log. `commits` counts the commits that are known at once. */
export function createFollow(readChanges: ReadChanges, commits: CommitCounter): ChangeStore['follow'] {
  /** The last page that was read. All up-to-date followers request the same page. */
  let recent: { after: number | undefined; count: number; atMs: number; changes: Promise<Change[]> } | undefined;
  /** The wait for the commit after `count`, which all up-to-date followers share. */
  let waiting: { count: number; commit: Promise<void> } | undefined;

  return async function* ({ after, signal } = {}) {
    let last = after;
    while (!signal?.aborted) {
      const count = commits.value; // saved before the read, so that a commit during the read is not missed
      const changes = await read(last, count);
      if (signal?.aborted) return;
      yield changes;
      last = changes.at(-1)?.seq ?? last;
      if (changes.length === 0) await unlessAborted(nextCommit(count), signal);
      else if (isAll(changes)) await sleep(GATHER_MS);
    }
  };

  function read(after: number | undefined, count: number): Promise<Change[]> {
    const atMs = performance.now();
    if (recent?.after === after && recent?.count === count && atMs - recent.atMs < FRESH_MS) return recent.changes;
    const changes = readChanges({ after, limit: CHANGES_AT_ONCE, maxChars: CHARS_AT_ONCE });
    recent = { after, count, atMs, changes };
    return changes;
  }

  function nextCommit(count: number): Promise<void> {
    if (waiting?.count === count) return waiting.commit;
    const own = { count, commit: commits.next(count, POLL_MS).finally(() => forget(own)) };
    waiting = own;
    return own.commit;
  }

  function forget(own: typeof waiting): void {
    if (waiting === own) waiting = undefined;
  }
}

async function unlessAborted(wait: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return;
  const aborted = Promise.withResolvers<void>();
  const abort = () => aborted.resolve();
  signal?.addEventListener('abort', abort);
  await Promise.race([wait, aborted.promise]);
  signal?.removeEventListener('abort', abort);
}

function isAll(changes: Change[]): boolean {
  const chars = changes.reduce((sum, { plant }) => sum + charsOf(plant), 0);
  return changes.length < CHANGES_AT_ONCE && chars <= CHARS_AT_ONCE;
}
