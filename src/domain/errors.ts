// The error type of the API. Code refers to an error by its code, clients by its number: HTTP status × 100 + n.
// The list is append-only: a published number never changes its meaning.

export const ERROR_NUMBERS = {
  malformed_request: 40000,
  not_json: 40001,
  not_valid: 40002,
  bad_parameter: 40003,
  id_taken: 40009,
  no_credentials: 40101,
  bad_token: 40102,
  scope_missing: 40301,
  origin_refused: 40302,
  no_such_path: 40400,
  not_found: 40401,
  no_such_method: 40500,
  request_timeout: 40800,
  last_admin: 40900,
  changes_pruned: 41000,
  condition_failed: 41200,
  body_too_large: 41300,
  media_type: 41500,
  over_rate: 42900,
  over_share: 42901,
  headers_too_large: 43100,
  bug: 50000,
  unavailable: 50300,
} as const;

export type ErrorCode = keyof typeof ERROR_NUMBERS;

/** Details that become response headers and help the client to correct its request. */
export interface ErrorDetail {
  /** Methods that the path supports. */
  allow?: string;
  /** Media types that the path accepts. */
  accept?: string;
  acceptEncoding?: string;
  /** Scopes that the request requires, separated by spaces. The token lacks at least one of them. */
  scope?: string;
  /** Seconds to wait before a retry. */
  retryAfterS?: number;
  /** Number of the change that created the current version of the record. */
  seq?: number;
}

export class PlantStoreError extends Error {
  readonly code: ErrorCode;
  readonly detail: ErrorDetail;

  constructor(code: ErrorCode, message: string, options: { detail?: ErrorDetail; cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = 'PlantStoreError';
    this.code = code;
    this.detail = options.detail ?? {};
  }
}

/** Returns an error for a request that can succeed later. The message should advise a retry. */
export function unavailable(message: string, cause?: unknown): PlantStoreError {
  return new PlantStoreError('unavailable', message, cause === undefined ? {} : { cause });
}
