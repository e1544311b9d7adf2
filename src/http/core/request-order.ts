// Schedules the requests of a connection when the client sends them without waiting for responses (pipelining).
// Requests that may not start yet are queued. If too many are queued, the server parses no more, responds to the
// queued ones, and closes the connection.

import type { ServerResponse } from 'node:http';
import { nextEventLoopTurn } from '../../lib/event-loop-turns.ts';
import type { SharedNumbers } from '../../lib/shared-numbers.ts';
import { FairShare } from '../access/fair-share.ts';
import { type BufferedRequest, MAX_EARLY_BYTES } from './buffered-request.ts';
import { type Connection, connectionOf } from './connection.ts';
import type { Route } from './route.ts';

/** Maximum number of concurrent requests per connection. */
export const MAX_IN_PROGRESS = 32;
/** Maximum number of queued requests per connection. A queued request of a few bytes takes 3 KB of memory. */
const MAX_QUEUED_OF_ONE = 1024;
/** Maximum number of requests queued after a response that may take very long or never end. */
const MAX_QUEUED_BEHIND_LONG = 32;
/** Maximum number of queued requests of all connections. One address can use a quarter. */
export const MAX_QUEUED = 8192;

export interface RequestOrderOptions {
  routeOf(raw: BufferedRequest): Route | undefined;
  start(raw: BufferedRequest, response: ServerResponse<BufferedRequest>): void;
  /** Numbers that all threads share. */
  counts: SharedNumbers;
}

/**
 * Runs requests to `isConcurrent` routes concurrently. Any other request starts only after all earlier requests have
 * their responses, and later requests wait for its response.
 */
export class RequestOrder {
  readonly #options: RequestOrderOptions;
  /** Number of queued requests, and of the bytes of their bodies. A proxy does not pipeline the requests of its clients. */
  readonly #queued: FairShare;
  readonly #queuedBytes: FairShare;

  constructor(options: RequestOrderOptions) {
    this.#options = options;
    this.#queued = new FairShare(options.counts, MAX_QUEUED, 'queued requests');
    this.#queuedBytes = new FairShare(options.counts, MAX_EARLY_BYTES, 'queued bytes');
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
    const { network } = connection;
    raw.holdBody((added) => this.#queuedBytes.add(network, added) !== undefined);
    const exceeded = this.#queued.add(network, 1);
    const isBehindLong = connection.isLong && connection.queued > MAX_QUEUED_BEHIND_LONG;
    if (isBehindLong) connection.socket.destroy();
    if (isBehindLong || connection.queued >= MAX_QUEUED_OF_ONE || exceeded) {
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
      this.#queued.add(connection.network, -1);
      this.#start(connection, next);
    }
    readOn(connection);
  }

  #dropQueued(connection: Connection): void {
    const dropped = connection.responses.splice(connection.started);
    for (const { req } of dropped) req.dropBody();
    if (dropped.length > 0) this.#queued.add(connection.network, -dropped.length);
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
