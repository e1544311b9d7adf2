// The HTTP server with its bounds and time-outs, with or without TLS.

import type { Server } from 'node:http';
import * as https from 'node:https';
import { createServer as createPlainServer } from '../../lib/lean-http.ts';
import type { Trusted } from '../access/client-address.ts';
import { BufferedRequest } from './buffered-request.ts';
import { ConnectionGuard } from './connection-guard.ts';
import { createConnectionLimits } from './connection-limits.ts';
import { MAX_HEADER_BYTES } from './raw-refusal.ts';
import type { Timeouts } from './timeouts.ts';
import type { Certificate } from './tls.ts';

export interface ServerOptions {
  /** With it the server speaks nothing but TLS. */
  certificate: Certificate | undefined;
  isProxy: Trusted;
  timeouts: Timeouts;
  nextRequestId(): string;
}

export interface HttpServer {
  server: Server<typeof BufferedRequest>;
  connections: ConnectionGuard;
}

/** Creates a server that does not listen yet. */
export function createServer({ certificate, isProxy, timeouts, nextRequestId }: ServerOptions): HttpServer {
  const options = {
    IncomingMessage: BufferedRequest,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: timeouts.headersMs,
    requestTimeout: 0, // slow-clients.ts has one for bodies: Node's own would hold for imports, too
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: timeouts.checkMs,
    requireHostHeader: false, // ours in header-checks.ts: Node's own refusal has no body
    optimizeEmptyRequests: true,
  };
  const server: Server<typeof BufferedRequest> = certificate
    ? https.createServer({ ...options, ...certificate, handshakeTimeout: timeouts.handshakeMs, allowHalfOpen: true })
    : createPlainServer(options);
  const countConnection = createConnectionLimits(isProxy);
  return { server, connections: new ConnectionGuard(server, { timeouts, countConnection, nextRequestId }) };
}
