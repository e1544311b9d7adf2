// Queues writes for a transaction, grouped by plant id. Writes to one id run one after the other, in the order of their
// arrival.

import { charsOfWrite } from '../queue-room.ts';
import type { PlantWrite, Rejection } from '../write-rules.ts';

/** Outcome of a write: its result, the reason for its rejection, or the error that made it fail. */
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
  /** Must be called before the last of these writes is settled, so that later writes to the id can follow. */
  release(): void;
}

/** All queued writes to one id. */
type Lane = Omit<WriteGroup, 'release'>;

export class WriteQueue {
  /** All ids with writes that are queued or in a transaction. */
  readonly #lanes = new Map<bigint, Lane>();
  /** Lanes without a write in a transaction, by the source of their first write. */
  readonly #ready: Record<Source, Lane[]> = { request: [], import: [] };
  readonly #onReady: () => void;

  /** `onReady` is called when the writes to another id become ready for a transaction. */
  constructor(onReady: () => void) {
    this.#onReady = onReady;
  }

  get isEmpty(): boolean {
    return this.#lanes.size === 0;
  }

  /** Returns the number of ids whose writes are ready for a transaction. */
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

  /** Removes and returns the oldest groups up to the limits, but at least one. */
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
