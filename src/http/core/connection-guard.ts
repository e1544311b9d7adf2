// Handles events of connections outside their requests: parser errors, slow clients, connection limits and shutdown.
// Each fault gets one response with an Error, and the server closes the connection.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { PlantStoreError } from '../../domain/errors.ts';
import type { SharedNumbers } from '../../lib/shared-numbers.ts';
import type { BufferedRequest } from './buffered-request.ts';
import type { Trusted } from './client-address.ts';
import { type Connection, connectionOf } from './connection.ts';
import { createConnectionLimits } from './connection-limits.ts';
import { allowHalfOpen, controlReading, replaceEnd, stopAccepting } from './node-internals.ts';
import {
  closeSlowly,
  lateRequest,
  type ParserFault,
  refuseConnection,
  toRefusal,
  tunnelRequest,
} from './raw-refusal.ts';
import { watchSlowClients } from './slow-clients.ts';
import type { Timeouts } from './timeouts.ts';

/** Turns of the event loop without a new connection before a stop. The first turn may end before it checks for one. */
const QUIET_TURNS = 3;
/** Maximum time for accepting pending connections at a stop, in case new ones never cease. */
const ACCEPT_PENDING_MS = 500;
/** Interval at which a stop closes idle connections. */
const CLOSE_IDLE_MS = 20;

export interface GuardOptions {
  /** True if each connection starts with a TLS handshake. */
  isTls: boolean;
  timeouts: Timeouts;
  isProxy: Trusted;
  /** Numbers of connections of all threads. */
  counts: SharedNumbers;
  nextRequestId(): string;
}

export class ConnectionGuard {
  readonly #server: Server;
  readonly #options: GuardOptions;
  readonly #countConnection: ReturnType<typeof createConnectionLimits>;
  /** Connections that carry HTTP. */
  readonly #open = new Set<Connection>();
  /** Connections whose TLS handshake is not complete, by their addresses. */
  readonly #handshakes = new Map<string, Socket>();
  /** Connections that are not read until all threads have stopped listening. */
  #heldAtStop: Set<Connection> | undefined;

  constructor(server: Server, options: GuardOptions) {
    this.#server = server;
    this.#options = options;
    this.#countConnection = createConnectionLimits(options.counts, options.isProxy);
    allowHalfOpen(server);
    server.on('connection', (socket: Socket) => this.#onConnection(socket));
    server.on('secureConnection', (socket: Socket) => {
      this.#handshakes.delete(peerOf(socket));
      this.#noteOpen(socket);
    });
    server.on('timeout', (socket: Socket) => {
      const { current, newest } = connectionOf(socket);
      if (!current && newest?.complete) socket.destroy(); // the keep-alive time is over
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => this.#onFault(error, socket));
    // The server sends 100 Continue when it needs the body. It may ignore other expectations (RFC 9110), and Node's own
    // response 417 has no body.
    for (const event of ['checkContinue', 'checkExpectation']) {
      server.on(event, (request: IncomingMessage, response: ServerResponse) =>
        server.emit('request', request, response),
      );
    }
    const onLate = ({ socket }: Connection) => this.#onFault(lateRequest(), socket);
    server.on('close', watchSlowClients(this.#open, options.timeouts, onLate));
  }

  /** Closes the connection after a response with `Connection: close` that is sent before the whole request was read. */
  closeAfterResponse({ socket, order }: BufferedRequest): void {
    const connection = connectionOf(socket);
    connection.hold(); // never released: the server reads nothing more
    connection.lastRequest ??= order;
    replaceEnd(socket, () => closeSlowly(socket, this.#options.timeouts.lingerMs));
  }

  /**
   * Stops listening, after it accepts the connections that are already pending: those would be reset. It reads no
   * requests from then until `readAgain`, so that hardly any time passes between the last check for connections and the
   * stop.
   */
  async stopListening(): Promise<void> {
    const held = new Set(this.#open);
    this.#heldAtStop = held;
    for (const connection of held) connection.hold();
    let quietTurns = 0;
    this.#server.on('connection', () => {
      quietTurns = 0;
    });
    const untilMs = performance.now() + ACCEPT_PENDING_MS;
    while (quietTurns < QUIET_TURNS && performance.now() < untilMs) {
      await nextTurn();
      quietTurns++;
    }
    stopAccepting(this.#server);
  }

  /** Reads the last requests after `stopListening`. */
  readAgain(): void {
    const held = this.#heldAtStop;
    this.#heldAtStop = undefined;
    for (const connection of held ?? []) connection.release();
  }

  /**
   * Closes the connections at a stop, each as soon as it is idle: no part of a request has arrived that has no
   * response, and the last response is sent. Resolves when no connection is left.
   */
  async closeIdle(): Promise<void> {
    while (this.#open.size + this.#handshakes.size > 0) {
      for (const socket of this.#handshakes.values()) socket.destroy();
      // For Node, a connection is idle as soon as the handler has ended the response, even if it is not sent.
      const isSending = [...this.#open].some(({ current }) => current?.writableEnded);
      if (!isSending) this.#server.closeIdleConnections();
      await sleep(CLOSE_IDLE_MS);
    }
  }

  /** Closes all connections, whatever their state. */
  destroyAll(): void {
    for (const socket of this.#handshakes.values()) socket.destroy();
    for (const { socket } of this.#open) socket.destroy();
  }

  #onConnection(socket: Socket): void {
    const refusal = this.#countConnection(socket);
    const { isTls } = this.#options;
    if (isTls) this.#noteHandshake(socket);
    else this.#noteOpen(socket);
    if (!refusal) return;
    if (isTls)
      socket.destroy(); // the client cannot read a response before the handshake
    else this.#refuse(socket, refusal);
  }

  #noteOpen(socket: Socket): void {
    const connection = connectionOf(socket);
    this.#open.add(connection);
    socket.on('close', () => this.#open.delete(connection));
    controlReading(socket, connection, () => this.#onFault(tunnelRequest(), socket));
    if (!this.#heldAtStop) return;
    this.#heldAtStop.add(connection);
    connection.hold();
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
      // The rest may have arrived unread, and Node reports the timeout only once.
      connection.headersSinceMs = Number.POSITIVE_INFINITY;
      return;
    }
    connection.isFaulty = true;
    inTurn(connection, () => {
      if (connection.isClosing) return; // the fault follows the last response
      const isGone = !socket.writable || error.code === 'ECONNRESET';
      if (isGone || hasResponse(connection)) socket.destroy(error);
      else this.#refuse(socket, toRefusal(error, this.#options.timeouts));
    });
  }
}

function peerOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

/** Runs `work` after the responses to all earlier valid requests. */
function inTurn(connection: Connection, work: () => void): void {
  const { current } = connection;
  // In the next tick this response is no longer the current one, in any order of the listeners.
  if (current?.req.complete) current.once('close', () => process.nextTick(inTurn, connection, work));
  else work();
}

/** True if the faulty request already has a response. The client would match a second one to another request. */
function hasResponse({ current, newest }: Connection): boolean {
  return current ? current.headersSent : newest?.complete === false;
}
