// Converts errors to responses, with the description and the headers of each error code.

import { z } from 'zod';
import { ERROR_NUMBERS, type ErrorCode, PlantStoreError } from '../../domain/errors.ts';
import { MAX_NESTING } from '../../lib/exact-json.ts';
import { etagOf } from './etag.ts';
import { MAX_BODY_BYTES } from './json-body.ts';
import { TIMEOUTS } from './timeouts.ts';

interface ErrorKind {
  /** The cause, as the OpenAPI description states it. */
  when: string;
  /** Next step of the client, for the reference. */
  action: string;
  /** A message with this error, as an example in the OpenAPI description. */
  message: string;
  /** Headers that every response with this error has. */
  headers?: Record<string, string>;
}

const CHALLENGE = 'Bearer realm="plant-store"';
const AFTER_RETRY_AFTER = 'Wait for the number of seconds in `Retry-After`, then retry.';
const seconds = (ms: number) => `${ms / 1000} s`;

export const ERROR_KINDS: Record<ErrorCode, ErrorKind> = {
  malformed_request: {
    when: 'The request is not well-formed HTTP: for example, it has two `Host` headers or an invalid chunk.',
    action: 'Fix the client or the proxy.',
    message: 'The request is not well-formed HTTP: Invalid header token',
    headers: { connection: 'close' },
  },
  not_json: {
    when: `The body is empty, is not UTF-8, starts with a BOM, is not JSON, or is nested more than ${MAX_NESTING} levels deep.`,
    action: 'Fix the body.',
    message: 'The body cannot be read as JSON: Unexpected end of JSON input',
  },
  not_valid: {
    when: 'The JSON does not match the schema.',
    action: 'Fix the fields that the message names.',
    message: '"id" must be an integer; "name" is missing',
  },
  bad_parameter: {
    when: 'A query parameter, an id in the path, a cursor or an `If-Match` header is malformed, or the cursor belongs to another filter.',
    action: 'Fix the parameter that the message names.',
    message: '"limit" must be an integer of at least 1',
  },
  id_taken: {
    when: 'The id belongs to another plant.',
    action: 'Use another id, or replace the plant with `PUT`.',
    message: 'Id 7 belongs to another plant. Use another id.',
  },
  no_credentials: {
    when: 'The request has no credentials.',
    action: 'Send `Authorization: Bearer <token>`.',
    message: 'The request has no credentials. Send the header "Authorization: Bearer <token>".',
    headers: { 'www-authenticate': CHALLENGE },
  },
  bad_token: {
    when: 'The token is malformed, unknown, expired or revoked.',
    action: 'Request a new token from an administrator.',
    message: 'The token is malformed, unknown, expired or revoked. Use another token.',
    headers: { 'www-authenticate': `${CHALLENGE}, error="invalid_token"` },
  },
  scope_missing: {
    when: 'The token lacks a required scope.',
    action: 'Use a token with the scopes that `WWW-Authenticate` names.',
    message: 'The token lacks the scope "plants:write"',
  },
  origin_refused: {
    when: 'A page from an origin that is not allowed sent the MCP request.',
    action: 'Add the origin to `CORS_ORIGINS`.',
    message: 'Pages of this origin may not use MCP. Add the origin to CORS_ORIGINS.',
  },
  no_such_path: {
    when: 'The path does not exist.',
    action: 'Check the path in `/openapi.json`.',
    message: 'This path does not exist. See /openapi.json for all paths.',
  },
  not_found: {
    when: 'The record does not exist.',
    action: 'Check the id.',
    message: 'No plant has id 7',
  },
  no_such_method: {
    when: 'The path does not support the method.',
    action: 'Use a method that `Allow` lists.',
    message: 'This path supports only GET, HEAD',
  },
  request_timeout: {
    when: `The request did not arrive in time: ${seconds(TIMEOUTS.headersMs)} for the headers and ${seconds(TIMEOUTS.bodyMs)} for the body. An import has ${seconds(TIMEOUTS.bodyMs)} for each KiB, and a minimum rate.`,
    action: 'Retry.',
    message: 'The request timed out. The limits are 10 s for the headers and 10 s for the body.',
    headers: { connection: 'close' },
  },
  last_admin: {
    when: 'The request would revoke the last active token with the scope `admin`.',
    action: 'Create another admin token first, or run `plant-store token revoke --force`.',
    message:
      'Token tok_I46W9MwWENQq is the last active token with the scope "admin". Create another one first, or run "plant-store token revoke --force".',
  },
  changes_pruned: {
    when: 'Changes after this number were pruned, a restore rolled back changes, or the store never assigned the number.',
    action: 'Take a new export and resume from its `ETag`.',
    message:
      'The change log cannot be read after change 7. The changes after it were pruned, or this store never issued that number. Take a new export and resume from the number in its ETag.',
  },
  condition_failed: {
    when: '`If-Match` or `If-None-Match` does not hold.',
    action: 'Read the record again, and retry with the `ETag` of this response if it has one.',
    message: 'Plant 7 is at version 1042',
  },
  body_too_large: {
    when: `The body, or a name or tag in an import, is larger than ${MAX_BODY_BYTES / 1024} KiB.`,
    action: 'Shorten it.',
    message: 'The body is larger than 65536 bytes',
    headers: { connection: 'close' },
  },
  media_type: {
    when: 'The path does not accept the media type, the body is not declared as UTF-8, or it is compressed.',
    action: 'Send a media type that `Accept` lists, or an encoding that `Accept-Encoding` lists.',
    message: 'Content-Type must be application/json, in UTF-8',
  },
  over_rate: {
    when: 'The token exceeds its rate, or its address has sent too many invalid tokens.',
    action: AFTER_RETRY_AFTER,
    message: 'The token has exceeded its rate. Retry in 1 s.',
  },
  over_share: {
    when: 'The token already uses a quarter of the export slots, of the import slots, or of the memory for unread responses of the node.',
    action: `${AFTER_RETRY_AFTER} One of its own transfers must end first, or its clients must read their responses.`,
    message: 'The token has 4 exports in progress, a quarter of all slots. Retry later.',
  },
  headers_too_large: {
    when: 'The headers are larger than 16 KiB, or the request has about a thousand of them.',
    action: 'Send fewer or shorter headers.',
    message: 'The headers are larger than 16384 bytes, or too many. Send fewer or shorter headers.',
    headers: { connection: 'close' },
  },
  bug: {
    when: 'The service has a bug. The record is not stored unless a retry reports it as stored.',
    action: 'Search the service log for the `X-Request-Id` and report the bug.',
    message: 'The server has an internal error. Report it with the id in X-Request-Id.',
  },
  unavailable: {
    when: 'The server is overloaded, stopping or out of disk space, it cannot reach the database, or the outcome of the write is unknown.',
    action: `${AFTER_RETRY_AFTER} Sending the same record again is safe.`,
    message: 'The database is busy. Retry later.',
    headers: { 'retry-after': '1' },
  },
};

export const ErrorBody = z
  .object({
    error: z.int32().meta({
      type: 'integer',
      format: 'int32',
      description: 'Numeric error indicator: the HTTP status × 100 + n',
      examples: [40002],
    }),
    message: z.string().meta({
      description: 'The cause of the error, and the field or parameter at fault',
      examples: ['"name" is missing'],
    }),
  })
  .meta({ id: 'Error', description: 'The number and the cause of an error' });

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

/** Returns a PlantStoreError itself, an error for a disconnected client, or a bug for anything else. */
export function toPlantStoreError(error: unknown): PlantStoreError {
  if (error instanceof PlantStoreError) return error;
  if (error instanceof Error && 'code' in error && error.code === 'ECONNRESET') {
    return new PlantStoreError('malformed_request', 'The body is shorter than its Content-Length');
  }
  return new PlantStoreError('bug', 'The server has an internal error. Report it with the id in X-Request-Id.', {
    cause: error,
  });
}
