// How much somebody may ask for: 100/s. A bucket holds one such period's worth and fills up steadily.

const PERIOD_MS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000 };
const MAX_COUNT = 1_000_000;

export interface Rate {
  count: number;
  periodMs: number;
}

/** What a rate looks like, for those who wrote another thing. */
export const RATE_FORM = `a number, ${MAX_COUNT} at most, per second, minute or hour: 100/s, 600/m, 5000/h`;

/** Undefined where it is none. */
export function parseRate(text: string): Rate | undefined {
  const [, digits, unit = ''] = /^([1-9]\d{0,6})\/([smh])$/.exec(text) ?? [];
  const [count, periodMs] = [Number(digits), PERIOD_MS[unit]];
  return periodMs !== undefined && count <= MAX_COUNT ? { count, periodMs } : undefined;
}

export function printRate({ count, periodMs }: Rate): string {
  return `${count}/${Object.keys(PERIOD_MS).find((unit) => PERIOD_MS[unit] === periodMs)}`;
}

export interface TakeResult {
  /** False when there was nothing left to take. */
  granted: boolean;
  /** So many could be taken now. */
  remaining: number;
  /** Until there is one more. */
  nextMs: number;
}

/** What is full again is forgotten; past `maxKeys` also what was made first, many at a time. */
export function createTokenBuckets(maxKeys: number) {
  /** When each will be full again: all that there is to know of a bucket. */
  const fullAtMs = new Map<string, number>();

  return {
    take(key: string, rate: Rate, nowMs: number): TakeResult {
      const stepMs = rate.periodMs / rate.count;
      const fullMs = Math.max(fullAtMs.get(key) ?? 0, nowMs) + stepMs;
      if (fullMs - nowMs > rate.periodMs + stepMs / 1000) return toResult(false, fullMs - stepMs - nowMs, rate);
      if (fullAtMs.size >= maxKeys && !fullAtMs.has(key)) makeRoom(nowMs);
      fullAtMs.set(key, fullMs);
      return toResult(true, fullMs - nowMs, rate);
    },
    size: () => fullAtMs.size,
  };

  function makeRoom(nowMs: number): void {
    for (const [key, atMs] of fullAtMs) if (atMs <= nowMs) fullAtMs.delete(key);
    for (const key of fullAtMs.keys()) {
      if (fullAtMs.size <= 0.9 * maxKeys) return;
      fullAtMs.delete(key);
    }
  }
}

function toResult(granted: boolean, missingMs: number, { count, periodMs }: Rate): TakeResult {
  const stepMs = periodMs / count;
  const missing = Math.ceil(missingMs / stepMs - 0.001);
  return { granted, remaining: Math.max(0, count - missing), nextMs: missingMs - Math.max(0, missing - 1) * stepMs };
}
