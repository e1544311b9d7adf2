// The one table from an error's code to what goes onto the wire with its number.

import { z } from 'zod';
import { ERROR_NUMBERS, type ErrorCode, PlantStoreError } from '../../domain/errors.ts';
import { etagOf } from './etag.ts';
import { MAX_BODY_BYTES } from './json-body.ts';

interface ErrorKind {
  /** As the OpenAPI description tells it. */
  when: string;
  headers?: Record<string, string>;
}

const CHALLENGE = 'Bearer realm="plant-store"';

export const ERROR_KINDS: Record<ErrorCode, ErrorKind> = {
  malformed_request: { when: 'not well-formed HTTP', headers: { connection: 'close' } },
  not_json: { when: 'the body is empty, not UTF-8, has a BOM, or is not JSON' },
  not_valid: { when: 'the JSON does not fit the schema' },
  bad_parameter: { when: 'a query parameter, a part of the path, a condition or a cursor is malformed' },
  id_taken: { when: 'the id belongs to another plant' },
  no_credentials: { when: 'no credentials', headers: { 'www-authenticate': CHALLENGE } },
  bad_token: {
    when: 'the token is malformed, unknown, expired or revoked',
    headers: { 'www-authenticate': `${CHALLENGE}, error="invalid_token"` },
  },
  scope_missing: { when: 'the token lacks a scope' },
  origin_refused: { when: 'a page of an origin that is not allowed speaks MCP' },
  no_such_path: { when: 'no such path' },
  not_found: { when: 'no such record' },
  no_such_method: { when: 'the path has no such method' },
  request_timeout: { when: 'the request did not arrive in time', headers: { connection: 'close' } },
  last_admin: { when: 'no token with the scope `admin` would be left' },
  changes_pruned: {
    when: 'some of the changes after this number are no longer there, or this store never gave it: take a new export',
  },
  condition_failed: { when: '`If-Match` or `If-None-Match` does not hold' },
  body_too_large: { when: `the body is over ${MAX_BODY_BYTES / 1024} KiB`, headers: { connection: 'close' } },
  media_type: { when: 'the body is not of a media type that is taken, not in UTF-8, or compressed' },
  over_rate: { when: "over the token's rate, or too many wrong tokens from one address" },
  over_share: { when: 'the token uses a quarter of the export or import slots already' },
  headers_too_large: { when: 'the headers are over 16 KiB', headers: { connection: 'close' } },
  bug: { when: 'a bug in the service; nothing was stored unless a retry says so' },
  unavailable: {
    when: 'overloaded, stopping, out of disk, or it is not known if the record was stored: send the same record again',
    headers: { 'retry-after': '1' },
  },
};

export const ErrorBody = z
  .object({
    error: z.int32().meta({ type: 'integer', format: 'int32', description: 'Numeric error indicator' }),
    message: z.string().meta({ description: 'What is wrong, and where' }),
  })
  .meta({ id: 'Error' });

export function statusOf(code: ErrorCode): number {
  return Math.floor(ERROR_NUMBERS[code] / 100);
}

export function toResponse({ code, message, detail }: PlantStoreError) {
  const headers: Record<string, string> = { 'cache-control': 'no-store', ...ERROR_KINDS[code].headers };
  if (detail.retryAfterS !== undefined) headers['retry-after'] = String(detail.retryAfterS);
  if (detail.allow) headers.allow = detail.allow;
  if (detail.accept) headers.accept = detail.accept;
  if (detail.acceptEncoding) headers['accept-encoding'] = detail.acceptEncoding;
  if (detail.seq !== undefined) headers.etag = etagOf(detail.seq);
  if (detail.scope) {
    headers['www-authenticate'] = `${CHALLENGE}, error="insufficient_scope", scope="${detail.scope}"`;
  }
  return { status: statusOf(code), headers, body: { error: ERROR_NUMBERS[code], message } };
}

/** Ours as it is; a client that broke off is one of ours, too; anything else is a bug. */
export function toPlantStoreError(error: unknown): PlantStoreError {
  if (error instanceof PlantStoreError) return error;
  if (error instanceof Error && 'code' in error && error.code === 'ECONNRESET') {
    return new PlantStoreError('malformed_request', 'The body is not as long as its Content-Length');
  }
  return new PlantStoreError('bug', 'Something went wrong on our side', { cause: error });
}
