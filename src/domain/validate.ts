// A value that came from outside → one that fits the schema, or an error that names every member that does not.

import type { z } from 'zod';
import { parseJson } from '../lib/exact-json.ts';
import { PlantStoreError } from './errors.ts';
import { mayHoldSecret } from './token-secret.ts';

/** `what` is the subject of the message where the value itself is wrong: "The body". */
export function validate<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const findings = checked.error.issues.map(
    ({ path, message }) => `${path.length ? `"${path.join('.')}"` : what} ${message}`,
  );
  throw new PlantStoreError('not_valid', findings.join('; '));
}

/** For an object in which a member that nobody knows is a mistake: somebody would get what they did not ask for. */
export function strictObjectError(issue: z.core.$ZodRawIssue): string {
  return issue.code === 'unrecognized_keys'
    ? `has members that nobody knows: ${issue.keys.map((key) => (mayHoldSecret(key) ? '…' : key)).join(', ')}`
    : 'must be an object';
}

export function readJson(text: string, what: string): unknown {
  if (text.startsWith('\uFEFF')) throw new PlantStoreError('not_json', `${what} begins with a byte order mark`);
  try {
    return parseJson(text);
  } catch (error) {
    const reason = (error as SyntaxError).message.toWellFormed();
    throw new PlantStoreError('not_json', `${what} cannot be read as JSON: ${reason}`);
  }
}
