// The change log as it grows: what is there, then each new change when its commit is done.

import type { Change } from '../change.ts';

/** So often it is looked if another process has written. */
const POLL_MS = 500;
const CHANGES_AT_ONCE = 500;

export interface Follow {
  follow(options: { after?: number | undefined; signal?: AbortSignal | undefined }): AsyncIterable<Change>;
  /** Called after every commit of this process. */
  onCommit(): void;
}

export function createFollow(readChanges: (query: { after?: number | undefined; limit: number }) => Change[]): Follow {
  let commit = Promise.withResolvers<void>();

  return {
    async *follow({ after, signal }) {
      let last = after;
      while (!signal?.aborted) {
        const nextCommit = commit.promise; // before the look, so that none is missed between the two
        const changes = readChanges({ after: last, limit: CHANGES_AT_ONCE });
        for (const change of changes) {
          yield change;
          if (signal?.aborted) return;
          last = change.seq;
        }
        if (changes.length === 0) await firstOf(nextCommit, signal);
      }
    },
    onCommit() {
      commit.resolve();
      commit = Promise.withResolvers();
    },
  };
}

function firstOf(commit: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, POLL_MS);
    signal?.addEventListener('abort', done);
    commit.then(done);

    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    }
  });
}
