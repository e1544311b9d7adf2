// Classifies PostgreSQL errors by SQLSTATE, never by their text, which may be in any language.

import pg from 'pg';
import { unavailable } from '../../domain/errors.ts';
import { cannotRead, DATABASE_BUSY, outcomeUnknown } from '../store-errors.ts';

export type Failure =
  /** Rolled back because of a concurrent transaction. Retry immediately. */
  | 'conflict'
  /** Rolled back because of a timeout or a lack of server resources. Retry later. */
  | 'busy'
  /** Rolled back because the disk is full. Retry when space is free. */
  | 'full'
  /** The connection failed or was lost, or the server is not a primary. */
  | 'unreachable'
  /** Any other error. The transaction was rolled back. */
  | 'bug';

const FAILURES: Record<string, Failure> = {
  '0A000': 'unreachable', // feature_not_supported: only a standby's response to SET TRANSACTION READ WRITE
  '40001': 'conflict', // serialization_failure
  '40P01': 'conflict', // deadlock_detected
  '23505': 'conflict', // unique_violation: another node was first
  '25006': 'unreachable', // read_only_sql_transaction: a standby
  '25P03': 'busy', // idle_in_transaction_session_timeout
  '25P04': 'busy', // transaction_timeout
  '53100': 'full', // disk_full
  '55006': 'busy', // object_in_use: a copy into the database is in progress
  '55P03': 'busy', // lock_not_available
  '57014': 'busy', // query_canceled: the statement timeout
};
const FAILURES_OF_CLASS: Record<string, Failure> = {
  '08': 'unreachable', // connection exceptions
  '28': 'unreachable', // authorization: only while connecting
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

/** True for an error in this service's code, as opposed to a connection error of the driver. */
function isMistake(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}

export class TransactionError extends Error {
  readonly failure: Failure;
  /** True if the transaction may have been committed. */
  readonly unknown: boolean;

  constructor(cause: unknown, unknown: boolean, failure = failureOf(cause)) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'TransactionError';
    this.failure = failure;
    this.unknown = unknown;
  }
}

export const CHANGED_BY_MANY = 'Too many concurrent requests change this record. Retry later.';
const MESSAGES: Partial<Record<Failure, string>> = {
  conflict: CHANGED_BY_MANY,
  busy: DATABASE_BUSY,
  full: 'The disk of the database is full. Retry later.',
  unreachable: 'The server cannot reach the database. Retry later.',
};

/** Returns the error for the caller of a write. A bug is returned unchanged. */
export function toWriteError(error: unknown): Error {
  if (!(error instanceof TransactionError)) return error as Error;
  if (error.unknown) return outcomeUnknown(error);
  const message = MESSAGES[error.failure];
  return message === undefined ? error : unavailable(message, error);
}

/** Returns the error for the caller of a read. A bug is returned unchanged. */
export function toReadError(error: unknown): Error {
  return error instanceof TransactionError && error.failure !== 'bug' ? cannotRead(error) : (error as Error);
}
