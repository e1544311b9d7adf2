// What the clients were told: every version that was acknowledged, and how often each answer came.

import type { NewPlant } from '../src/client/client.ts';

/** A version of a plant that was acknowledged. */
export interface Version {
  name: string;
  seq: number;
}

/** What may come to a client depends on what is done to the servers meanwhile. */
export interface Phase {
  title: string;
  allowed: string[];
  /** How often each status came, or the code of what happened to the connection. */
  answers: Map<string, number>;
}

export interface Ledger {
  /** The versions of each plant, oldest first. */
  plants: Map<bigint, Version[]>;
  acknowledged: number;
  /** Creates that were acknowledged as stored before: the answer to an earlier try was lost. */
  replayed: number;
  /** Reads that were answered. */
  read: number;
  /** Ids that two wanted. */
  contests: number;
  phases: Phase[];
  /** What the follower was shown, as `changeLine` writes it. */
  followed: string[];
  /** What must not happen. */
  violations: string[];
  acknowledge(id: bigint, version: Version): void;
  beginPhase(title: string, allowed: string[]): void;
  countAnswer(answer: string): void;
  /** The longest time without an acknowledgement since the last call. */
  takeLongestPauseMs(): number;
}

export function createLedger(): Ledger {
  let lastMs = performance.now();
  let longestPauseMs = 0;

  const ledger: Ledger = {
    plants: new Map(),
    acknowledged: 0,
    replayed: 0,
    read: 0,
    contests: 0,
    phases: [],
    followed: [],
    violations: [],
    acknowledge(id, version) {
      notePause();
      ledger.acknowledged++;
      const versions = ledger.plants.get(id);
      if (versions) versions.push(version);
      else ledger.plants.set(id, [version]);
    },
    beginPhase(title, allowed) {
      ledger.phases.push({ title, allowed, answers: new Map() });
    },
    countAnswer(answer) {
      const answers = ledger.phases.at(-1)?.answers;
      answers?.set(answer, (answers.get(answer) ?? 0) + 1);
    },
    takeLongestPauseMs() {
      const pauseMs = longestPauseMs;
      longestPauseMs = 0;
      return pauseMs;
    },
  };
  return ledger;

  function notePause(): void {
    const nowMs = performance.now();
    longestPauseMs = Math.max(longestPauseMs, nowMs - lastMs);
    lastMs = nowMs;
  }
}

/** A change as one line, to be compared. */
export function changeLine(seq: number, type: string, { id, name }: NewPlant): string {
  return `${seq} ${type} ${id} ${name}`;
}
