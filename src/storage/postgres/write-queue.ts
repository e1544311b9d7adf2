// Writes that wait for a transaction, by the id that they are for: those to one id are done one after the other, in the
// order in which they came.

import { charsOfWrite } from '../write-limits.ts';
import type { PlantWrite, Rejection } from '../write-rules.ts';

/** What became of a write: its result, why it was rejected, or why its outcome is unknown. */
export type Written = { done: unknown } | Rejection | Error;

type Source = 'request' | 'import';

export interface QueuedWrite {
  write: PlantWrite;
  source: Source;
  settle(written: Written): void;
}

/** The writes to one id, in order. */
export interface WriteGroup {
  id: bigint;
  writes: QueuedWrite[];
  /** To be called before the last of them is settled: other writes to the id may follow. */
  release(): void;
}

/** All writes to one id that wait. */
type Lane = Omit<WriteGroup, 'release'>;

export class WriteQueue {
  /** Every id that has writes which wait or are in a transaction. */
  readonly #lanes = new Map<bigint, Lane>();
  /** Those of which none is in a transaction, by the source of their first write. */
  readonly #ready: Record<Source, Lane[]> = { request: [], import: [] };
  readonly #onReady: () => void;

  /** `onReady` is called when writes to one more id could be in a transaction. */
  constructor(onReady: () => void) {
    this.#onReady = onReady;
  }

  get isEmpty(): boolean {
    return this.#lanes.size === 0;
  }

  /** Number of ids whose writes could be in a transaction. */
  ready(source: Source): number {
    return this.#ready[source].length;
  }

  add(queued: QueuedWrite): void {
    const { id } = queued.write;
    const lane = this.#lanes.get(id);
    if (lane) {
      lane.writes.push(queued);
      return;
    }
    const own = { id, writes: [queued] };
    this.#lanes.set(id, own);
    this.#makeReady(own, queued);
  }

  /** Takes out the oldest up to the limits, and at least one. */
  take(source: Source, limits: { ids: number; chars: number }): WriteGroup[] {
    const ready = this.#ready[source];
    let chars = 0;
    const end = ready.findIndex(({ writes }, at) => {
      chars += charsOfWrite((writes[0] as QueuedWrite).write);
      return at >= limits.ids || (at > 0 && chars > limits.chars);
    });
    return ready.splice(0, end === -1 ? ready.length : end).map((lane) => ({
      id: lane.id,
      writes: lane.writes.splice(0),
      release: () => this.#release(lane),
    }));
  }

  #release(lane: Lane): void {
    const next = lane.writes[0];
    if (next) this.#makeReady(lane, next);
    else this.#lanes.delete(lane.id);
  }

  #makeReady(lane: Lane, { source }: QueuedWrite): void {
    this.#ready[source].push(lane);
    this.#onReady();
  }
}
