// Records the minute in which tokens were last used. It writes in batches, one at a time, and no request waits for a
// write.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Token, TokenStore } from '../../domain/token.ts';
import { isUnavailable, type ReportBug } from '../../observability/bug-report.ts';

const MINUTE_MS = 60_000;
/** Pause after a failed write. */
const PAUSE_MS = 5_000;

export function createLastUsed({ noteUse }: TokenStore, clock: () => number, reportBug: ReportBug) {
  let minuteMs = 0;
  /** Ids of the tokens whose use in this minute is recorded or queued. */
  const noted = new Set<string>();
  let queued: string[] = [];
  let isWriting = false;

  return ({ id, lastUsedMs }: Token): void => {
    const nowMs = Math.floor(clock() / MINUTE_MS) * MINUTE_MS;
    if (nowMs !== minuteMs) {
      minuteMs = nowMs;
      noted.clear();
    }
    if (noted.has(id) || (lastUsedMs ?? 0) >= minuteMs) return;
    noted.add(id);
    queued.push(id);
    if (!isWriting) void write();
  };

  async function write(): Promise<void> {
    isWriting = true;
    while (queued.length > 0) {
      await new Promise(setImmediate); // collects all tokens used in this turn of the event loop
      const ids = queued;
      queued = [];
      const locked = await noteUse(ids, minuteMs).catch(pause);
      for (const id of locked) noted.delete(id); // so that the next use is written
    }
    isWriting = false;
  }

  /** Clears the recorded ids after the pause, so that the next use of a token is written. */
  async function pause(error: unknown): Promise<string[]> {
    if (!isUnavailable(error)) reportBug(error);
    await sleep(PAUSE_MS, undefined, { ref: false });
    noted.clear();
    return [];
  }
}
