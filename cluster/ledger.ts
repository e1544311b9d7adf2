// What the servers acknowledged to the clients, and how often each answer came.

import type { NewPlant } from '../src/client/client.ts';
import { Tally } from '../torture/tally.ts';

/** A version of a plant that was acknowledged. */
export interface Version {
  name: string;
  seq: number;
}

/** What may come to a client depends on what is done to the servers meanwhile. */
export interface Phase {
  title: string;
  allowed: string[];
  /** By status, or by the code of what happened to the connection. */
  answers: Tally<string>;
}

export class Ledger {
  /** The versions of each plant, oldest first. */
  readonly plants = new Map<bigint, Version[]>();
  readonly phases: Phase[] = [];
  /** What the follower received, as `changeLine` writes it. */
  readonly followed: string[] = [];
  /** What must not happen. */
  readonly violations: string[] = [];
  acknowledged = 0;
  /** Creates that were acknowledged as stored before: the answer to an earlier try was lost. */
  replayed = 0;
  /** Reads that were answered. */
  read = 0;
  /** Ids that two wanted. */
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

/** Returns a change as one line, to be compared. */
export function changeLine(seq: number, type: string, { id, name }: NewPlant): string {
  return `${seq} ${type} ${id} ${name}`;
}
