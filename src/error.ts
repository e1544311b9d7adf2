// The one error that the interface speaks of. Its code is a word; which number and HTTP status
// a word becomes is decided in http/errors.ts alone.

export type ErrorCode =
  | 'malformed_request'
  | 'not_json'
  | 'not_valid'
  | 'bad_parameter'
  | 'id_taken'
  | 'no_credentials'
  | 'bad_token'
  | 'scope_missing'
  | 'no_such_path'
  | 'not_found'
  | 'no_such_method'
  | 'request_timeout'
  | 'body_too_large'
  | 'media_type'
  | 'headers_too_large'
  | 'bug'
  | 'unavailable';

/** What the client needs besides the message to do better next time. */
export interface ErrorDetail {
  /** Methods that the path has. */
  allow?: string;
  /** Media type that the path takes. */
  accept?: string;
  acceptEncoding?: string;
  /** Scope that the token lacks. */
  scope?: string;
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
