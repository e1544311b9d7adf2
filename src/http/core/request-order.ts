// Schedules the requests of a connection when the client sends them without waiting for responses (pipelining).
// Requests that may not start yet are queued. If too many are queued, the server parses no more, responds to the
// queued ones, and closes the connection.

import type { ServerResponse } from 'node:http';
import { nextEventLoopTurn } from '../../lib/event-loop-turns.ts';
import type { SharedCount } from '../../lib/shared-count.ts';
import type { BufferedRequest } from './buffered-request.ts';
import { type Connection, connectionOf } from './connection.ts';
import type { Route } from './route.ts';

/** Maximum number of concurrent requests per connection. */
export const MAX_IN_PROGRESS = 32;
/** Maximum number of queued requests per connection. A queued request of a few bytes takes 3 KB of memory. */
const MAX_QUEUED_OF_ONE = 1024;
/** Maximum number of requests queued after a response that may take very long or never end. */
const MAX_QUEUED_BEHIND_LONG = 32;
/** Maximum number of queued requests of all connections. */
const MAX_QUEUED = 8192;

export interface RequestOrderOptions {
  routeOf(raw: BufferedRequest): Route | undefined;
  start(raw: BufferedRequest, response: ServerResponse<BufferedRequest>): void;
  /** Body bytes of queued requests, in all threads. */
  queuedBytes: SharedCount;
  /** Number of queued requests, in all threads. */
  queuedRequests: SharedCount;
}

/**
 * Runs requests to `isConcurrent` routes concurrently. Any other request starts only after all earlier requests have
 * their responses, and later requests wait for its response.
 */
export class RequestOrder {
  readonly #options: RequestOrderOptions;

  constructor(options: RequestOrderOptions) {
    this.#options = options;
  }

  /** Starts a request now, or queues it. */
  add(raw: BufferedRequest, response: ServerResponse<BufferedRequest>): void {
    const connection = connectionOf(raw.socket);
    if (connection.requests === 0) raw.socket.once('close', () => this.#dropQueued(connection));
    const maySkipQueue = connection.queued === 0 && this.#mayStart(connection, raw);
    connection.responses.push(response);
    if (maySkipQueue) this.#start(connection, response);
    else this.#queue(connection, raw);
    if (!connection.isHeldByOrder && !mayRead(connection)) hold(connection);
  }

  /**
   * Pauses reading until the response is sent. Call it for a request without a body whose response may take very long.
   */
  holdOthers({ socket }: BufferedRequest): void {
    const connection = connectionOf(socket);
    connection.isLong = true;
    if (connection.queued > MAX_QUEUED_BEHIND_LONG) socket.destroy();
    else if (!connection.isHeldByOrder) hold(connection);
  }

  /** Call it when the response was sent or was abandoned. */
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

  /**
   * False for a request whose response may close the connection even if the whole request has arrived. A later request
   * must not start before that is known. After a protocol upgrade, it could even start in the middle of another one,
   * because Node skips bytes.
   */
  #isConcurrent(raw: BufferedRequest): boolean {
    const { upgrade, expect } = raw.headers;
    return upgrade === undefined && expect === undefined && this.#options.routeOf(raw)?.isConcurrent === true;
  }

  #start(connection: Connection, response: ServerResponse<BufferedRequest>): void {
    connection.started++;
    this.#options.start(response.req, response);
  }

  #queue(connection: Connection, raw: BufferedRequest): void {
    const { queuedBytes, queuedRequests } = this.#options;
    raw.holdBody(queuedBytes);
    const queuedOfAll = queuedRequests.add(1);
    const isBehindLong = connection.isLong && connection.queued > MAX_QUEUED_BEHIND_LONG;
    if (isBehindLong) connection.socket.destroy();
    if (isBehindLong || connection.queued >= MAX_QUEUED_OF_ONE || queuedOfAll >= MAX_QUEUED) {
      connection.isParsingStopped = true;
    }
  }

  /** Waits one turn of the event loop before each start, because requests can be long lists. */
  async #startQueued(connection: Connection): Promise<void> {
    if (connection.isStarting) return;
    connection.isStarting = true;
    await nextEventLoopTurn();
    connection.isStarting = false;
    if (connection.isClosing) this.#dropQueued(connection);
    for (;;) {
      const next = connection.responses[connection.started];
      if (!next || !this.#mayStart(connection, next.req)) break;
      this.#options.queuedRequests.add(-1);
      this.#start(connection, next);
    }
    readOn(connection);
  }

  #dropQueued(connection: Connection): void {
    const dropped = connection.responses.splice(connection.started);
    for (const { req } of dropped) req.dropBody();
    this.#options.queuedRequests.add(-dropped.length);
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
