// The texts that begin a transaction. They set every setting on which the transaction depends, since those of the
// session, the role and the database may be anything.

import { SEARCH_PATH } from './qualified-names.ts';

/** How durable a commit is: on the disk of every synchronous standby, or visible there, too. */
export type SynchronousCommit = 'on' | 'remote_apply';

/** Sets the timeouts of a transaction. */
export function limitsOf(statementTimeoutMs: number): string {
  return `SET LOCAL statement_timeout = ${statementTimeoutMs}; SET LOCAL idle_in_transaction_session_timeout = ${statementTimeoutMs}`;
}

/** Removes all timeouts, for a transaction that may take hours. `version` is the major version of the server. */
export function noLimits(version: number): string {
  return version < 17 ? limitsOf(0) : `${limitsOf(0)}; SET LOCAL transaction_timeout = 0`;
}

export function beginRead(limits: string): string {
  return `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path = ${SEARCH_PATH}; ${limits}`;
}

/**
 * Also sets what would change what is stored or how safely. On a standby READ WRITE fails: in a statement of its own, so
 * that the transaction has begun and rejects all that follows.
 */
export function beginWrite(limits: string, synchronousCommit: SynchronousCommit): string {
  return `BEGIN ISOLATION LEVEL READ COMMITTED; SET TRANSACTION READ WRITE; SET LOCAL search_path = ${SEARCH_PATH}; SET LOCAL array_nulls = on; SET LOCAL synchronous_commit = ${synchronousCommit}; SET LOCAL lock_timeout = 0; SET LOCAL client_min_messages = warning; ${limits}`;
}
