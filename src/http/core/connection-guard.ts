// What happens to connections below their requests: faults of the HTTP parser, late clients, too many connections, the end.
// Each fault gets one response, an Error like all others, and the connection is closed.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Server as TlsServer } from 'node:tls';
import { PlantStoreError } from '../../domain/errors.ts';
import type { Trusted } from '../access/client-address.ts';
import type { BufferedRequest } from './buffered-request.ts';
import { type Connection, connectionOf } from './connection.ts';
import { createConnectionLimits } from './connection-limits.ts';
import { allowHalfOpen, controlReading, replaceEnd, stopAccepting } from './node-internals.ts';
import { closeSlowly, lateRequest, type ParserFault, refuseConnection, toRefusal } from './raw-refusal.ts';
import { watchSlowClients } from './slow-clients.ts';
import type { Timeouts } from './timeouts.ts';

/** Turns of the event loop without a new connection; the first may end before it has looked for one. */
const QUIET_TURNS = 3;
/** Under a storm of new connections there is always one more. */
const TAKE_IN_MS = 500;

export interface GuardOptions {
  timeouts: Timeouts;
  isProxy: Trusted;
  nextRequestId(): string;
}

export class ConnectionGuard {
  readonly #server: Server;
  readonly #options: GuardOptions;
  readonly #countConnection: ReturnType<typeof createConnectionLimits>;
  /** Connections on which HTTP is spoken. */
  readonly #open = new Set<Connection>();
  /** Connections whose TLS handshake is not complete, by their addresses. */
  readonly #handshakes = new Map<string, Socket>();

  constructor(server: Server, options: GuardOptions) {
    this.#server = server;
    this.#options = options;
    this.#countConnection = createConnectionLimits(options.isProxy);
    allowHalfOpen(server);
    server.on('connection', (socket: Socket) => this.#onConnection(socket));
    server.on('secureConnection', (socket: Socket) => {
      this.#handshakes.delete(peerOf(socket));
      this.#noteOpen(socket);
    });
    server.on('timeout', (socket: Socket) => {
      const { current, newest } = connectionOf(socket);
      if (!current && newest?.complete) socket.destroy(); // it was kept alive for long enough
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => this.#onFault(error, socket));
    server.on('connect', (_request: IncomingMessage, socket: Socket) => {
      inTurn(connectionOf(socket), () =>
        this.#refuse(socket, new PlantStoreError('no_such_path', 'This is not a proxy')),
      );
    });
    // 100 Continue is sent when the body is wanted. Another expectation may be ignored (RFC 9110); Node's 417 has no body.
    for (const event of ['checkContinue', 'checkExpectation']) {
      server.on(event, (request: IncomingMessage, response: ServerResponse) =>
        server.emit('request', request, response),
      );
    }
    const onLate = ({ socket }: Connection) => this.#onFault(lateRequest(), socket);
    server.on('close', watchSlowClients(this.#open, options.timeouts, onLate));
  }

  /** For a response that says `Connection: close` before the whole request was read. */
  closeAfterResponse({ socket, order }: BufferedRequest): void {
    const connection = connectionOf(socket);
    connection.hold(); // for good: what else is sent stays with the sender
    connection.lastRequest ??= order;
    replaceEnd(socket, () => closeSlowly(socket, this.#options.timeouts.lingerMs));
  }

  /** Refuses new connections, after those that have reached the service already: they would be reset. */
  async stopListening(): Promise<void> {
    let quietTurns = 0;
    this.#server.on('connection', () => {
      quietTurns = 0;
    });
    const untilMs = performance.now() + TAKE_IN_MS;
    while (quietTurns < QUIET_TURNS && performance.now() < untilMs) {
      await nextTurn();
      quietTurns++;
    }
    stopAccepting(this.#server);
  }

  /** For the end: http.Server does not know of these connections, and would wait for them. */
  endHandshakes(): void {
    for (const socket of this.#handshakes.values()) socket.destroy();
  }

  #onConnection(socket: Socket): void {
    const refusal = this.#countConnection(socket);
    const isTls = this.#server instanceof TlsServer;
    if (isTls) this.#noteHandshake(socket);
    else this.#noteOpen(socket);
    if (!refusal) return;
    if (isTls)
      socket.destroy(); // it could not read a response yet
    else this.#refuse(socket, refusal);
  }

  #noteOpen(socket: Socket): void {
    const connection = connectionOf(socket);
    this.#open.add(connection);
    socket.on('close', () => this.#open.delete(connection));
    controlReading(socket, connection);
  }

  #noteHandshake(socket: Socket): void {
    const peer = peerOf(socket);
    this.#handshakes.set(peer, socket);
    socket.on('close', () => {
      if (this.#handshakes.get(peer) === socket) this.#handshakes.delete(peer);
    });
  }

  #refuse(socket: Socket, error: PlantStoreError): void {
    const { nextRequestId, timeouts } = this.#options;
    refuseConnection(socket, error, nextRequestId(), timeouts.lingerMs);
  }

  #onFault(error: NodeJS.ErrnoException & ParserFault, socket: Socket): void {
    const connection = connectionOf(socket);
    if (connection.isFaulty) return;
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && connection.isHeld) {
      connection.headersSinceMs = Number.POSITIVE_INFINITY; // the rest may be here, but unread; Node reports it only once
      return;
    }
    connection.isFaulty = true;
    inTurn(connection, () => {
      if (connection.isClosing) return; // the fault is behind the last response
      const isGone = !socket.writable || error.code === 'ECONNRESET';
      if (isGone || isAnswered(connection)) socket.destroy(error);
      else this.#refuse(socket, toRefusal(error, this.#options.timeouts));
    });
  }
}

function peerOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

/** Runs `work` after the responses to all good requests that came before. */
function inTurn(connection: Connection, work: () => void): void {
  const { current } = connection;
  // In the next tick it is no longer the current one, whoever hears of its end first.
  if (current?.req.complete) current.once('close', () => process.nextTick(inTurn, connection, work));
  else work();
}

/** True if the fault is in the rest of a request that has its response: a second one would be taken for that to another request. */
function isAnswered({ current, newest }: Connection): boolean {
  return current ? current.headersSent : newest?.complete === false;
}
