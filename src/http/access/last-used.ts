// Writes down when tokens were last used, to the minute: all that come meanwhile together, one write at a time, and
// nobody waits for it.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Token, TokenStore } from '../../domain/token.ts';
import { isUnavailable, type ReportBug } from '../../observability/bug-report.ts';

const MINUTE_MS = 60_000;
/** After a write that failed. */
const PAUSE_MS = 5_000;

export function createLastUsed({ noteUse }: TokenStore, clock: () => number, reportBug: ReportBug) {
  let minuteMs = 0;
  /** In this minute: what is written down, or will be. */
  const noted = new Set<string>();
  let waiting: string[] = [];
  let isWriting = false;

  return ({ id, lastUsedMs }: Token): void => {
    const nowMs = Math.floor(clock() / MINUTE_MS) * MINUTE_MS;
    if (nowMs !== minuteMs) {
      minuteMs = nowMs;
      noted.clear();
    }
    if (noted.has(id) || (lastUsedMs ?? 0) >= minuteMs) return;
    noted.add(id);
    waiting.push(id);
    if (!isWriting) void write();
  };

  async function write(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      await new Promise(setImmediate); // those of the same moment
      const ids = waiting;
      waiting = [];
      await noteUse(ids, minuteMs).catch(pause);
    }
    isWriting = false;
  }

  /** Then they are written down when they are used again. */
  async function pause(error: unknown): Promise<void> {
    if (!isUnavailable(error)) reportBug(error);
    await sleep(PAUSE_MS, undefined, { ref: false });
    noted.clear();
  }
}
