// The errors that both databases throw.

import { unavailable } from '../domain/errors.ts';

/** Message for a write that was rolled back because another transaction holds a lock or memory is short. */
export const DATABASE_BUSY = 'The database is busy. Retry later.';

export const storeStopping = () => unavailable('The service is stopping. Retry later.');
export const cannotRead = (cause: unknown) => unavailable('The database cannot be read now. Retry later.', cause);
/** Returns the error for a write that may or may not have been committed. */
export const outcomeUnknown = (cause: unknown) =>
  unavailable('It is unknown whether the record was stored. Send the same record again.', cause);
