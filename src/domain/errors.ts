// The one error that the interface speaks of: a word for us, a number for the wire. The number is the HTTP status
// × 100 + n. The list is append-only: a number once given keeps its meaning.

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

/** What the client needs besides the message to do better next time. */
export interface ErrorDetail {
  /** Methods that the path has. */
  allow?: string;
  /** Media type that the path takes. */
  accept?: string;
  acceptEncoding?: string;
  /** Scopes that the request needs, separated by spaces; the token lacks one of them at least. */
  scope?: string;
  /** Seconds to wait. */
  retryAfterS?: number;
  /** Number of the change that made the record as it is now. */
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

/** Worth another try later; the message says so. */
export function unavailable(message: string, cause?: unknown): PlantStoreError {
  return new PlantStoreError('unavailable', message, cause === undefined ? {} : { cause });
}
