// The events that the service reports about itself. The log, the metrics and traces decide what is shown, and how.

import { CREDENTIAL_FAULTS } from '../domain/token.ts';

/** Why a request was not let in. */
export const DENIAL_REASONS = [
  'no_credentials',
  ...CREDENTIAL_FAULTS,
  'too_many_wrong',
  'scope',
  'rate',
  'share',
] as const;
export type DenialReason = (typeof DENIAL_REASONS)[number];

/** The status of an answer that never came, as the client had gone. Not one of HTTP, yet known to those who read logs. */
export const CLIENT_CLOSED_REQUEST = 499;

/** Result of one attempt: `dead` if there is no other. */
export type DeliveryResult = 'delivered' | 'failed' | 'dead';

export type ServiceEvent =
  | { kind: 'listening'; url: string; database: string }
  | { kind: 'no_token' }
  | { kind: 'stopping'; reason: string }
  | { kind: 'stopped' }
  /** Said when what is sent can be read on the way. */
  | { kind: 'no_tls'; host: string }
  | { kind: 'certificate_renewed'; validTo: string }
  | { kind: 'certificate_unusable'; reason: string }
  /** Every answer; `route` is not there where none takes the request. */
  | { kind: 'answer'; route: { method: string; path: string } | undefined; status: number; durationMs: number }
  /** Every answer, under ACCESS_LOG only. */
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
  | { kind: 'refused'; reason: DenialReason; requestId: string; why: string | undefined }
  /** Said once when the keys of the identity provider cannot be read, and once when they can again. */
  | { kind: 'keys_failing'; reason: string }
  | { kind: 'keys_recovered' }
  /** Said once when traces cannot be sent, and once when they can again. */
  | { kind: 'traces_failing'; reason: string }
  | { kind: 'traces_recovered' }
  /** Writes that shared a transaction. */
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
  /** Said once when it is taken to be down, and once when it answers again. */
  | { kind: 'webhook_failing'; webhookId: string; reason: string }
  | { kind: 'webhook_recovered'; webhookId: string }
  | { kind: 'webhook_disabled'; webhookId: string; reason: string }
  /** An answer of 50000, or an error that work in the background did not expect. */
  | { kind: 'bug'; requestId?: string; error: unknown }
  /** Said once when writes begin to fail and once when they succeed again. */
  | { kind: 'writes_failing'; reason: string }
  | { kind: 'writes_recovered' }
  | { kind: 'store_failed'; error: Error };

export type Observe = (event: ServiceEvent) => void;
