// Defines the events that the server reports. The service log, metrics and traces use them.

import type { RefusalReason } from '../domain/token.ts';

/**
 * Status recorded if the client disconnected before the response, or if the response failed after its first byte. It is
 * not an HTTP status, but common in logs.
 */
export const ABORTED = 499;

/** Result of one attempt: `failed` if a retry follows, `dead` if not. */
export type DeliveryResult = 'delivered' | 'failed' | 'dead';

/** The route of a request. Requests of a long one, such as a stream, can take any time. */
export interface ObservedRoute {
  method: string;
  path: string;
  isLong?: true;
}

/** An event of the server. */
export type ServiceEvent =
  | { kind: 'listening'; url: string; database: string; threads: number }
  /** Reported when all threads listen, without those that could not start. */
  | { kind: 'threads_listening'; threads: number }
  | { kind: 'thread_not_started'; error: Error }
  /** Reported at start if the operating system supports only one thread. */
  | { kind: 'one_thread'; platform: string }
  /** `option` selects the database of this server in a command. */
  | { kind: 'no_token'; option: string }
  /** Reported at start if the database file did not exist, for example because of a wrong folder. */
  | { kind: 'store_created'; path: string }
  /** Reported at start for each value of a setting that the service ignores. */
  | { kind: 'setting_ignored'; reason: string }
  | { kind: 'stopping'; reason: string }
  | { kind: 'stopped' }
  /** Reported if connections are not encrypted. */
  | { kind: 'no_tls'; host: string }
  | { kind: 'certificate_renewed'; validTo: string }
  | { kind: 'certificate_unusable'; reason: string }
  /** Reported for every response. `route` is undefined if no route matches. */
  | { kind: 'response'; route: ObservedRoute | undefined; status: number; durationMs: number }
  /** Reported for every response if ACCESS_LOG is set. */
  | {
      kind: 'request';
      requestId: string;
      method: string;
      path: string;
      status: number;
      durationMs: number;
      tokenId: string | undefined;
      address: string | undefined;
    }
  /** Reported if the service had to end a response after its first byte, for another reason than a bug. */
  | { kind: 'response_aborted'; requestId: string; reason: string }
  | { kind: 'refused'; reason: RefusalReason; requestId: string; why: string | undefined }
  /** Lines of the service log that another thread has printed. */
  | { kind: 'lines'; text: string }
  /** Reported for each attempt to fetch the keys of the identity provider. The service log has the changes only. */
  | { kind: 'keys_failing'; reason: string }
  | { kind: 'keys_recovered' }
  /** Reported for each attempt to send traces. The service log has the changes only. */
  | { kind: 'traces_failing'; reason: string }
  | { kind: 'traces_recovered' }
  /** Reported for every transaction, with its number of writes. */
  | { kind: 'commit'; writes: number; durationMs: number }
  | {
      kind: 'delivery';
      webhookId: string;
      seq: number;
      /** Counted from 1. */
      attempt: number;
      result: DeliveryResult;
      code: number | undefined;
      durationMs: number;
    }
  /** Reported once when a receiver counts as down, and once after recovery. */
  | { kind: 'webhook_failing'; webhookId: string; reason: string }
  | { kind: 'webhook_recovered'; webhookId: string }
  | { kind: 'webhook_disabled'; webhookId: string; reason: string }
  /** Reported for a response with error 50000, or for an unexpected error in background work. */
  | { kind: 'bug'; requestId?: string; error: unknown }
  /** Reported at start. `lastAgeMs` is the age of the newest backup, or null if there is none. */
  | { kind: 'backups_scheduled'; dir: string; lastAgeMs: number | null; nextInMs: number }
  | { kind: 'backup_written'; file: string; bytes: number; durationMs: number }
  /** Reported if a complete backup could not be noted, or older ones not be deleted. */
  | { kind: 'backup_incident'; reason: string }
  | { kind: 'backup_failed'; reason: string; lastAgeMs: number | null; nextInMs: number }
  /**
   * Reported when writes start to fail, and with the first that succeeds again. `order` counts both, if several threads
   * write. The service log has the recovery only when no write has failed for some seconds.
   */
  | { kind: 'writes_failing'; reason: string; order?: number }
  | { kind: 'writes_recovered'; order?: number }
  | { kind: 'store_failed'; error: Error }
  /** Reported once if another version has changed the database so that this one cannot use it. */
  | { kind: 'schema_unsupported'; error: Error };

/** Receives the events. */
export type Observe = (event: ServiceEvent) => void;
