// Bounds that both databases share, and the errors past them.

import { unavailable } from '../domain/errors.ts';
import { charsOf } from '../domain/page-size.ts';

/** Bounds on the queue of writes. Past either, the database cannot keep up, and waiting longer does not help. */
const MAX_QUEUED_WRITES = 10_000;
const MAX_QUEUED_CHARS = 16 * 1024 * 1024;

/** Maximum number of concurrent exports. Each keeps a connection and a snapshot open. */
const MAX_EXPORTS = 16;

/** Number of changes that are pruned in one transaction. */
export const PRUNED_AT_ONCE = 10_000;

/** Number of completed deliveries that are kept of each webhook. */
export const KEPT_DELIVERED = 1000;
/** Number of new deliveries of a webhook after which its older ones are trimmed. */
export const TRIM_EVERY = 500;

/** Number of characters that a write adds to the queue. */
export function charsOfWrite({ plant, patch }: { kind: string; plant?: Texts; patch?: Texts }): number {
  const texts = plant ?? patch;
  return texts ? charsOf(texts) : 0;
}

type Texts = Parameters<typeof charsOf>[0];

/** Throws `unavailable` if one more write of `chars` characters does not fit into a queue of this length. */
export function requireRoomInQueue(queued: { writes: number; chars: number }, chars: number): void {
  if (queued.writes < MAX_QUEUED_WRITES && queued.chars + chars <= MAX_QUEUED_CHARS) return;
  throw unavailable('Too many writes are waiting: try again later');
}

/** Throws `unavailable` if this many exports are in progress and one more would be too many. */
export function requireRoomForExport(inProgress: number): void {
  if (inProgress >= MAX_EXPORTS) throw unavailable('Too many exports are under way: try again later');
}

/** Message for a write that was rolled back because others hold a lock or memory is short. */
export const DATABASE_BUSY = 'The database is busy: try again later';

export const storeStopping = () => unavailable('The store is stopping: try again later');
export const cannotRead = (cause: unknown) => unavailable('The database cannot be read now: try again later', cause);
/** For a write that may have been committed. */
export const outcomeUnknown = (cause: unknown) =>
  unavailable('It is not known if the record was stored: send the same record again', cause);
