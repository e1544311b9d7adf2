// Parses the value formats that several settings share. An invalid value throws a UsageError that names the setting.

import { UsageError } from '../lib/user-error.ts';

export function readNumber(name: string, text: string, min: number, max: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw refuse(name, text, `an integer from ${min} to ${max}`);
}

export function readOneOf<T extends string>(name: string, text: string, known: readonly T[]): T {
  const found = known.find((one) => one === text);
  if (found !== undefined) return found;
  throw refuse(name, text, `one of ${known.join(', ')}`);
}

export function readUrl(name: string, text: string, wanted: string): string {
  if (/^https?:\/\/[^/@\s]+(\/\S*)?$/.test(text) && URL.canParse(text)) return text;
  throw new UsageError(`${name} must be ${wanted}`); // the value is not echoed, because it may contain a password
}

/** Returns the non-empty parts of a comma-separated list. */
export function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Returns the error for an invalid value. */
export function refuse(name: string, text: string, wanted: string): UsageError {
  return new UsageError(`${name} must be ${wanted}, not "${text}"`);
}
