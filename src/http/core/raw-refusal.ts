// Writes an Error response directly to a socket, without the HTTP server, and closes the connection.

import type { Socket } from 'node:net';
import { PlantStoreError, unavailable } from '../../domain/errors.ts';
import { STATUS_CODES } from '../../lib/lean-http.ts';
import { connectionOf } from './connection.ts';
import { toResponse } from './error-response.ts';
import { PARSING_STOPPED_CODE } from './node-internals.ts';
import { MAX_IN_PROGRESS } from './request-order.ts';
import { JSON_TYPE } from './send-reply.ts';
import type { Timeouts } from './timeouts.ts';
import { HSTS } from './tls.ts';

export const MAX_HEADER_BYTES = 16 * 1024;

/** Sends the error as the last response of the connection. */
export function refuseConnection(socket: Socket, error: PlantStoreError, requestId: string, lingerMs: number): void {
  const connection = connectionOf(socket);
  connection.lastRequest = 0;
  const { status, headers, body } = toResponse(error);
  connection.refusedWith = status;
  const text = JSON.stringify(body);
  const lines = Object.entries({
    ...headers,
    ...('encrypted' in socket && { 'strict-transport-security': HSTS }),
    connection: 'close',
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(text),
    'x-content-type-options': 'nosniff',
    date: new Date().toUTCString(),
    'x-request-id': requestId,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on('error', () => socket.destroy()); // the client may be gone
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`);
  closeSlowly(socket, lingerMs);
}

/** Ends the connection, and destroys it after the client had time to read the response. */
export function closeSlowly(socket: Socket, lingerMs: number): void {
  socket.end();
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.on('close', () => clearTimeout(timer));
}

/** A fault that Node's parser reports. */
export interface ParserFault {
  code?: string;
  reason?: string;
}

/** Returns the same error that Node's parser reports for a late request. */
export function lateRequest(): NodeJS.ErrnoException {
  return Object.assign(new Error('The request timed out'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
}

/** Code of the fault of a request for a tunnel. */
const TUNNEL = 'TUNNEL';

/** Returns the fault of a request for a tunnel, which Node's parser does not report. */
export function tunnelRequest(): NodeJS.ErrnoException {
  return Object.assign(new Error('The client asked for a tunnel'), { code: TUNNEL });
}

export function requestTimeout({ headersMs, bodyMs }: Timeouts): PlantStoreError {
  return new PlantStoreError(
    'request_timeout',
    `The request timed out. The limits are ${headersMs / 1000} s for the headers and ${bodyMs / 1000} s for the body.`,
  );
}

export function toRefusal({ code, reason }: ParserFault, timeouts: Timeouts): PlantStoreError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return requestTimeout(timeouts);
    case 'HPE_HEADER_OVERFLOW':
      return new PlantStoreError(
        'headers_too_large',
        `The headers are larger than ${MAX_HEADER_BYTES} bytes, or too many. Send fewer or shorter headers.`,
      );
    case TUNNEL:
      return new PlantStoreError('no_such_path', 'This server is not a proxy');
    case PARSING_STOPPED_CODE:
      return unavailable(
        `Too many requests on this connection have no response yet. Send at most ${MAX_IN_PROGRESS} at a time.`,
      );
    default:
      return new PlantStoreError(
        'malformed_request',
        `The request is not well-formed HTTP: ${reason ?? 'it cannot be parsed'}`,
      );
  }
}
