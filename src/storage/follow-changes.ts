// Follows the change log: yields the existing changes, then each new change after its commit.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Change, ChangeQuery } from '../domain/change.ts';
import { charsOf } from '../domain/page-size.ts';

/** Interval for polling the change log for commits by other processes. */
const POLL_MS = 500;
/** Limits on the memory that each follower uses. A server can have many followers. */
const CHANGES_AT_ONCE = 500;
const CHARS_AT_ONCE = 64 * 1024;
/** Time for which an up-to-date follower collects commits, so that it does not read after each one. */
const GATHER_MS = 20;
/** Time for which all followers share a page, unless this process commits. */
const FRESH_MS = 50;

type FollowOptions = { after?: number | undefined; signal?: AbortSignal | undefined };

export function createFollow(readChanges: (query: ChangeQuery) => Promise<Change[]>) {
  const waiting = new Set<() => void>();
  let commits = 0;
  /** The last page that was read. All up-to-date followers request the same page. */
  let recent: { after: number | undefined; commits: number; atMs: number; changes: Promise<Change[]> } | undefined;

  return {
    async *follow({ after, signal }: FollowOptions): AsyncGenerator<Change> {
      let last = after;
      while (!signal?.aborted) {
        const commitsBefore = commits; // saved before the read, so that a commit during the read is not missed
        const changes = await read(last);
        for (const change of changes) {
          yield change;
          if (signal?.aborted) return;
          last = change.seq;
        }
        if (changes.length === 0 && commits === commitsBefore) await nextCommit(signal);
        else if (isAll(changes)) await sleep(GATHER_MS);
      }
    },
    /** Must be called after each commit of this process, and on each notification of a commit by another process. */
    onCommit(): void {
      commits++;
      for (const wake of waiting) wake();
    },
  };

  function read(after: number | undefined): Promise<Change[]> {
    const atMs = performance.now();
    if (recent?.after === after && recent?.commits === commits && atMs - recent.atMs < FRESH_MS) return recent.changes;
    const changes = readChanges({ after, limit: CHANGES_AT_ONCE, maxChars: CHARS_AT_ONCE });
    recent = { after, commits, atMs, changes };
    return changes;
  }

  function nextCommit(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(wake, POLL_MS);
      signal?.addEventListener('abort', wake);
      waiting.add(wake);

      function wake(): void {
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        waiting.delete(wake);
        resolve();
      }
    });
  }
}

function isAll(changes: Change[]): boolean {
  const chars = changes.reduce((sum, { plant }) => sum + charsOf(plant), 0);
  return changes.length < CHANGES_AT_ONCE && chars <= CHARS_AT_ONCE;
}
