// Errors in a form that can be sent to another thread.

import { inspect } from 'node:util';

/** Returns an error with the same message, whose stack also shows all properties and causes. Those can be any object. */
export function cloneError(error: unknown): Error {
  const copy = new Error(error instanceof Error ? error.message : String(error));
  copy.stack = inspect(error);
  return copy;
}
