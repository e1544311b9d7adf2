// Records the acknowledged writes of all clients, and counts the responses.

import type { NewPlant } from '../src/client/client.ts';
import { Tally } from '../torture/tally.ts';

/** An acknowledged version of a plant. */
export interface Version {
  name: string;
  seq: number;
}

/** A phase of the trial. The allowed responses depend on the faults injected during it. */
export interface Phase {
  title: string;
  allowed: string[];
  /** Counts by status, or by the error code of the connection. */
  answers: Tally<string>;
}

export class Ledger {
  /** The versions of each plant, oldest first. */
  readonly plants = new Map<bigint, Version[]>();
  readonly phases: Phase[] = [];
  /** Changes that the follower received, in the form of `changeLine`. */
  readonly followed: string[] = [];
  /** Descriptions of violations. */
  readonly violations: string[] = [];
  acknowledged = 0;
  /** Number of creates acknowledged as replays, because the response to an earlier attempt was lost. */
  replayed = 0;
  /** Number of successful reads. */
  read = 0;
  /** Number of ids that two clients requested. */
  contests = 0;
  #lastMs = performance.now();
  #longestPauseMs = 0;

  acknowledge(id: bigint, version: Version): void {
    const nowMs = performance.now();
    this.#longestPauseMs = Math.max(this.#longestPauseMs, nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    this.acknowledged++;
    this.plants.getOrInsert(id, []).push(version);
  }

  beginPhase(title: string, allowed: string[]): void {
    this.phases.push({ title, allowed, answers: new Tally() });
  }

  countAnswer(answer: string): void {
    this.phases.at(-1)?.answers.add(answer);
  }

  /** Returns the longest time without an acknowledgement since the last call. */
  resetLongestPauseMs(): number {
    const pauseMs = this.#longestPauseMs;
    this.#longestPauseMs = 0;
    return pauseMs;
  }
}

/** Returns a change as one line, for comparison. */
export function changeLine(seq: number, type: string, { id, name }: NewPlant): string {
  return `${seq} ${type} ${id} ${name}`;
}
