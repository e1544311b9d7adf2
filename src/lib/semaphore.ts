// Only so many at a time: what may take long must leave room for all else.

import { unavailable } from '../domain/errors.ts';

export interface TurnsOptions {
  atOnce: number;
  /** Past either bound it throws `unavailable`, with these words. */
  maxWaiting: number;
  waitMs: number;
  refusal: string;
}

export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

export function createTurns({ atOnce, maxWaiting, waitMs, refusal }: TurnsOptions): InTurn {
  const waiting = new Set<() => void>();
  let underWay = 0;

  return async (work) => {
    if (underWay < atOnce) underWay++;
    else if (waiting.size < maxWaiting) await nextTurn();
    else throw unavailable(refusal);
    try {
      return await work();
    } finally {
      const [next] = waiting;
      if (next) next();
      else underWay--;
    }
  };

  /** Takes over the place of one that is done. */
  function nextTurn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(begin);
        reject(unavailable(refusal));
      }, waitMs);
      waiting.add(begin);

      function begin(): void {
        clearTimeout(timer);
        waiting.delete(begin);
        resolve();
      }
    });
  }
}
