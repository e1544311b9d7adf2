// Creates the HTTP server with its limits and timeouts, with or without TLS. TLS is loaded only with a certificate.

import type { Server } from 'node:http';
import { createServer as createPlainServer } from '../../lib/lean-http.ts';
import { BufferedRequest } from './buffered-request.ts';
import { ConnectionGuard, type GuardOptions } from './connection-guard.ts';
import { MAX_HEADER_BYTES } from './raw-refusal.ts';
import type { Certificate } from './tls.ts';

export type HttpServer = ReturnType<typeof createServer>;

/** Creates a server that does not listen yet. With a certificate, it accepts only TLS. */
export function createServer(certificate: Certificate | undefined, guardOptions: Omit<GuardOptions, 'isTls'>) {
  const { timeouts } = guardOptions;
  const options = {
    IncomingMessage: BufferedRequest,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: timeouts.headersMs,
    requestTimeout: 0, // slow-clients.ts limits bodies: Node's own timeout would also apply to imports
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: timeouts.checkMs,
    requireHostHeader: false, // header-checks.ts checks it: Node's own response has no body
    optimizeEmptyRequests: true,
  };
  const server: Server<typeof BufferedRequest> = certificate
    ? process
        .getBuiltinModule('node:https')
        .createServer({ ...options, ...certificate, handshakeTimeout: timeouts.handshakeMs, allowHalfOpen: true })
    : createPlainServer(options);
  return { server, connections: new ConnectionGuard(server, { ...guardOptions, isTls: certificate !== undefined }) };
}
