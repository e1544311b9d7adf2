// Checks input against a schema. Throws an error that names every invalid field.

import type { z } from 'zod';
import { parseJson } from '../lib/exact-json.ts';
import { PlantStoreError } from './errors.ts';
import { mayHoldSecret } from './token-secret.ts';

/** Matches the place of a mistake in V8's message. */
const PLACE = /at position (\d+) \(line \d+ column \d+\)$/;

/** Returns the checked value. `what`, such as "The body", is the subject of a message about the value itself. */
export function validate<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const findings = checked.error.issues.map(
    ({ path, message }) => `${path.length ? `"${path.join('.')}"` : what} ${message}`,
  );
  throw new PlantStoreError('not_valid', findings.join('; '));
}

/** The message for an object that must not have unknown fields: a misspelt field would be silently ignored. */
export function strictObjectError(issue: z.core.$ZodRawIssue): string {
  return issue.code === 'unrecognized_keys'
    ? `has unknown fields: ${issue.keys.map((key) => (mayHoldSecret(key) ? '…' : key)).join(', ')}`
    : 'must be an object';
}

export function readJson(text: string, what: string): unknown {
  if (text.startsWith('\uFEFF')) throw new PlantStoreError('not_json', `${what} starts with a byte order mark`);
  try {
    return parseJson(text);
  } catch (error) {
    const { message } = error as SyntaxError;
    // a line of a file has its own number in the file
    const reason = text.includes('\n') ? message : message.replace(PLACE, (_, at) => `at column ${Number(at) + 1}`);
    throw new PlantStoreError('not_json', `${what} cannot be read as JSON: ${reason.toWellFormed()}`);
  }
}
