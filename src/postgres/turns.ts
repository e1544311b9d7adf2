// Only so many at a time: searches, which may take long, must leave connections for all else.

import { unavailable } from '../error.ts';

const MAX_WAITING = 1000;

export function createTurns(atOnce: number, waitMs: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting = new Set<() => void>();
  let underWay = 0;

  return async (work) => {
    if (waiting.size >= MAX_WAITING) throw tooMany();
    if (underWay >= atOnce) await nextTurn();
    else underWay++;
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
        reject(tooMany());
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

function tooMany(): Error {
  return unavailable('Too many searches are waiting: try again later');
}
