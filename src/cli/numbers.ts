// Numbers of the command line, digit for digit, before anything is sent.

import { UsageError } from '../lib/user-error.ts';

export function readPlantId(text: string): bigint {
  const id = /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined;
  if (id !== undefined && BigInt.asIntN(64, id) === id) return id;
  throw new UsageError(
    `An id is a whole number from ${-(2n ** 63n)} to ${2n ** 63n - 1n}, not ${JSON.stringify(text)}`,
  );
}

/** `option` is named in the refusal. */
export function readCount(option: string, text: string, min: 0 | 1): number {
  const count = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= min && count <= Number.MAX_SAFE_INTEGER) return count;
  throw new UsageError(`${option} takes a whole number from ${min} on, not ${JSON.stringify(text)}`);
}
