// Which requests of a connection are handled, and when, if the client sends them without waiting for responses
// (pipelining). Requests that may not start yet are queued. When too many are, no more are parsed: those that are queued get
// their responses, and the connection is closed.

import type { ServerResponse } from 'node:http';
import { nextEventLoopTurn } from '../../lib/event-loop-turns.ts';
import type { BufferedRequest, EarlyBytes } from './buffered-request.ts';
import { type Connection, connectionOf } from './connection.ts';
import type { Route } from './route.ts';

/** Requests of one connection without a response. */
export const MAX_IN_PROGRESS = 32;
/** A queued request of a few bytes takes 3 KB. */
const MAX_QUEUED_OF_ONE = 1024;
/** Behind a response that may take very long, or never end. */
const MAX_QUEUED_BEHIND_LONG = 32;
/** Of all connections. */
const MAX_QUEUED = 8192;

export interface RequestOrderOptions {
  routeOf(raw: BufferedRequest): Route | undefined;
  start(raw: BufferedRequest, response: ServerResponse<BufferedRequest>): void;
  early: EarlyBytes;
}

/**
 * Requests to a route that is `isConcurrent` run together with others of the kind. All others start when each request
 * before them has its response, and nothing starts behind them until they have theirs.
 */
export class RequestOrder {
  readonly #options: RequestOrderOptions;
  #queuedOfAll = 0;

  constructor(options: RequestOrderOptions) {
    this.#options = options;
  }

  /** Starts a request now, or when its turn has come. */
  add(raw: BufferedRequest, response: ServerResponse<BufferedRequest>): void {
    const connection = connectionOf(raw.socket);
    if (connection.requests === 0) raw.socket.once('close', () => this.#dropQueued(connection));
    const maySkipQueue = connection.queued === 0 && this.#mayStart(connection, raw);
    connection.responses.push(response);
    if (maySkipQueue) this.#start(connection, response);
    else this.#queue(connection, raw);
    if (!connection.isHeldByOrder && !mayRead(connection)) hold(connection);
  }

  /** Call for a request without a body whose response may take very long: until then nothing behind it is even read. */
  holdOthers({ socket }: BufferedRequest): void {
    const connection = connectionOf(socket);
    connection.isLong = true;
    if (connection.queued > MAX_QUEUED_BEHIND_LONG) socket.destroy();
    else if (!connection.isHeldByOrder) hold(connection);
  }

  /** Call when the response has left, or will not. */
  finish({ socket }: BufferedRequest): void {
    const connection = connectionOf(socket);
    connection.responses.shift();
    connection.started--;
    connection.isLong = false;
    if (connection.queued > 0) void this.#startQueued(connection);
    else if (connection.isHeldByOrder) readOn(connection);
  }

  #mayStart({ started, newest }: Connection, raw: BufferedRequest): boolean {
    if (started === 0 || !newest) return true;
    return started < MAX_IN_PROGRESS && this.#isConcurrent(newest) && this.#isConcurrent(raw);
  }

  /** Behind a request that asks for another protocol Node leaves bytes out, so that what follows may be the middle of one. */
  #isConcurrent(raw: BufferedRequest): boolean {
    return raw.headers.upgrade === undefined && this.#options.routeOf(raw)?.isConcurrent === true;
  }

  #start(connection: Connection, response: ServerResponse<BufferedRequest>): void {
    connection.started++;
    this.#options.start(response.req, response);
  }

  #queue(connection: Connection, raw: BufferedRequest): void {
    raw.holdBody(this.#options.early);
    this.#queuedOfAll++;
    const isBehindLong = connection.isLong && connection.queued > MAX_QUEUED_BEHIND_LONG;
    if (isBehindLong) connection.socket.destroy();
    if (isBehindLong || connection.queued >= MAX_QUEUED_OF_ONE || this.#queuedOfAll >= MAX_QUEUED) {
      connection.isParsingStopped = true;
    }
  }

  /** One turn of the event loop for each: they may be long lists. */
  async #startQueued(connection: Connection): Promise<void> {
    if (connection.isStarting) return;
    connection.isStarting = true;
    await nextEventLoopTurn();
    connection.isStarting = false;
    if (connection.isClosing) this.#dropQueued(connection);
    for (;;) {
      const next = connection.responses[connection.started];
      if (!next || !this.#mayStart(connection, next.req)) break;
      this.#queuedOfAll--;
      this.#start(connection, next);
    }
    readOn(connection);
  }

  #dropQueued(connection: Connection): void {
    const dropped = connection.responses.splice(connection.started);
    for (const { req } of dropped) req.dropBody();
    this.#queuedOfAll -= dropped.length;
  }
}

function mayRead({ queued, started, isLong }: Connection): boolean {
  return queued === 0 && started < MAX_IN_PROGRESS && !isLong;
}

function hold(connection: Connection): void {
  connection.isHeldByOrder = true;
  connection.hold();
}

function readOn(connection: Connection): void {
  if (!connection.isHeldByOrder || !mayRead(connection)) return;
  connection.isHeldByOrder = false;
  connection.release();
}
