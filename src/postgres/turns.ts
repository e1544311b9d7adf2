// Only so many at a time: lists and searches, which may take long, must leave connections for all else.

import { unavailable } from '../error.ts';

const MAX_WAITING = 1000;

export function createTurns(atOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let underWay = 0;

  return async (work) => {
    if (waiting.length >= MAX_WAITING) throw unavailable('Too many searches are waiting: try again later');
    if (underWay >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else underWay++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else underWay--;
    }
  };
}
