// Responses in the place of the HTTP server: an Error like all others, after which the connection is closed.

import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { PlantStoreError, unavailable } from '../../domain/errors.ts';
import { STATUS_CODES } from '../../lib/lean-http.ts';
import { connectionOf } from './connection.ts';
import { toResponse } from './error-response.ts';
import { PARSING_STOPPED_CODE } from './node-internals.ts';
import type { Timeouts } from './timeouts.ts';
import { HSTS } from './tls.ts';

export const MAX_HEADER_BYTES = 16 * 1024;

/** Sends the error, which is the last response of the connection. */
export function refuseConnection(socket: Socket, error: PlantStoreError, requestId: string, lingerMs: number): void {
  const connection = connectionOf(socket);
  connection.lastRequest = 0;
  const { status, headers, body } = toResponse(error);
  connection.refusedWith = status;
  const text = JSON.stringify(body);
  const lines = Object.entries({
    ...headers,
    ...(socket instanceof TLSSocket && { 'strict-transport-security': HSTS }),
    connection: 'close',
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'x-content-type-options': 'nosniff',
    date: new Date().toUTCString(),
    'x-request-id': requestId,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on('error', () => socket.destroy()); // it may be gone already
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`);
  closeSlowly(socket, lingerMs);
}

/** Ends the connection, and destroys it only after the client had time to read what was sent. */
export function closeSlowly(socket: Socket, lingerMs: number): void {
  socket.end();
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.on('close', () => clearTimeout(timer));
}

/** What Node's parser reports. */
export interface ParserFault {
  code?: string;
  reason?: string;
}

/** As Node's parser reports a request that is late. */
export function lateRequest(): NodeJS.ErrnoException {
  return Object.assign(new Error('The request did not arrive in time'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
}

export function requestTimeout({ headersMs, bodyMs }: Timeouts): PlantStoreError {
  return new PlantStoreError(
    'request_timeout',
    `The request did not arrive in time: ${headersMs / 1000} s for its headers, ${bodyMs / 1000} s for its body`,
  );
}

export function toRefusal({ code, reason }: ParserFault, timeouts: Timeouts): PlantStoreError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return requestTimeout(timeouts);
    case 'HPE_HEADER_OVERFLOW':
      return new PlantStoreError('headers_too_large', `The headers are over ${MAX_HEADER_BYTES} bytes, or too many`);
    case PARSING_STOPPED_CODE:
      return unavailable('Too many requests were sent without waiting for responses: send at most 32 at once');
    default:
      return new PlantStoreError('malformed_request', `Not well-formed HTTP: ${reason ?? 'cannot be read'}`);
  }
}
