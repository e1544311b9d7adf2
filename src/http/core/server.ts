// The HTTP server with its bounds and time-outs, with or without TLS.

import type * as http from 'node:http';
import * as https from 'node:https';
import { createServer as createPlainServer } from '../../lib/lean-http.ts';
import type { Trusted } from '../access/client-address.ts';
import { Incoming } from './buffered-request.ts';
import * as connection from './connection.ts';
import { createConnectionLimits } from './connection-limits.ts';
import { type Certificate, HANDSHAKE_TIMEOUT_MS } from './tls.ts';

export function createServer(
  certificate: Certificate | undefined,
  isProxy: Trusted = () => false,
): http.Server<typeof Incoming> {
  const options = {
    IncomingMessage: Incoming,
    maxHeaderSize: connection.MAX_HEADER_BYTES,
    headersTimeout: connection.HEADERS_TIMEOUT_MS,
    requestTimeout: 0, // connection.ts has one for bodies: Node's own would hold for imports, too
    keepAliveTimeout: connection.KEEP_ALIVE_TIMEOUT_MS,
    connectionsCheckingInterval: connection.TIMEOUT_CHECK_MS,
    requireHostHeader: false, // ours in headers.ts: Node's own refusal has no body
    optimizeEmptyRequests: true,
  };
  const server = certificate
    ? (https.createServer({
        ...options,
        ...certificate,
        handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
        allowHalfOpen: true,
      }) as object)
    : createPlainServer(options);
  connection.guardConnections(server as http.Server, createConnectionLimits(isProxy));
  return server as http.Server<typeof Incoming>;
}
