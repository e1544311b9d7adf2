// What a PostgreSQL error means for us, by its SQLSTATE and never by its text.

import pg from 'pg';

export type Failure =
  /** Rolled back because of others: worth another try at once. */
  | 'conflict'
  /** Rolled back: it took too long, or the server is short of something. Try again later. */
  | 'busy'
  /** No room: rolled back, and worth another try when there is room. */
  | 'full'
  /** The connection is gone, or there was none, or what answers is no primary. */
  | 'unreachable'
  /** Nothing we know: rolled back. */
  | 'bug';

const FAILURES: Record<string, Failure> = {
  '40001': 'conflict', // serialization_failure
  '40P01': 'conflict', // deadlock_detected
  '23505': 'conflict', // unique_violation: another node was first
  '25006': 'unreachable', // read_only_sql_transaction: a standby
  '25P04': 'busy', // transaction_timeout
  '53100': 'full', // disk_full
  '55P03': 'busy', // lock_not_available
  '57014': 'busy', // query_canceled: the statement timeout
};
const FAILURES_OF_CLASS: Record<string, Failure> = {
  '08': 'unreachable', // connection exceptions
  '28': 'unreachable', // authorization: at a connect only
  '3D': 'unreachable', // no such database
  '53': 'busy', // insufficient resources
  '57': 'unreachable', // operator intervention
  '58': 'busy', // system errors
};

export function failureOf(error: unknown): Failure {
  if (!(error instanceof pg.DatabaseError)) return isMistake(error) ? 'bug' : 'unreachable';
  const { code = '' } = error;
  return FAILURES[code] ?? FAILURES_OF_CLASS[code.slice(0, 2)] ?? 'bug';
}

/** After an ERROR the connection goes on, and the transaction is rolled back. */
export function isPlainError(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.severity === 'ERROR';
}

/** Of our own code, as opposed to what the driver says of its connection. */
function isMistake(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}
