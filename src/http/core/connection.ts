// What is known of one connection, over all of its requests.

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { BufferedRequest } from './buffered-request.ts';
import type { ReadingControl } from './node-internals.ts';

/** An export that waits for its reader. */
export interface ExportProgress {
  request: BufferedRequest;
  readBytes: number;
  /** Bytes by which the reader may still fall behind the least rate. */
  creditBytes: number;
}

export class Connection implements ReadingControl {
  readonly socket: Socket;
  /** Responses that have not left yet, in the order of their requests. The first `started` are in progress, the others queued. */
  readonly responses: ServerResponse<BufferedRequest>[] = [];
  started = 0;
  /** True while a response in progress may take very long. */
  isLong = false;
  /** True while nothing is read until requests that came before have their responses. */
  isHeldByOrder = false;
  /** True while the next queued request waits for its turn of the event loop. */
  isStarting = false;
  /** The newest request that has started, whether it has its response or not. */
  newest: BufferedRequest | undefined;
  /** How many requests have started. */
  requests = 0;
  /** Order of the request whose response closes the connection: no request behind it may have an effect. */
  lastRequest: number | undefined;
  /** Status with which the connection itself was refused. */
  refusedWith: number | undefined;
  isParsingStopped = false;
  /** The parser has reported a fault. It does so again with every chunk. */
  isFaulty = false;
  /** Time at which the newest request began, if it has a body that may not be here yet. */
  bodySinceMs: number | undefined;
  /** Time since which late headers are read again. Node reports them only once, also while nothing is read. */
  headersSinceMs: number | undefined;
  /** Time at which a response was found waiting to be read, and the bytes that the client had read by then. */
  unread: { sinceMs: number; readBytes: number } | undefined;
  newestExport: ExportProgress | undefined;
  #holds = 0;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  get isHeld(): boolean {
    return this.#holds > 0;
  }

  get queued(): number {
    return this.responses.length - this.started;
  }

  /** Response in progress that is sent next, or being sent. */
  get current(): ServerResponse<BufferedRequest> | undefined {
    return this.responses[0];
  }

  get isClosing(): boolean {
    return this.lastRequest !== undefined;
  }

  noteRequest(request: BufferedRequest, nowMs: number): void {
    const { headers } = request;
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
    this.newest = request;
    request.order = ++this.requests;
    request.hasBody = hasBody;
    this.bodySinceMs = hasBody ? nowMs : undefined;
    if (this.headersSinceMs !== undefined) this.headersSinceMs = undefined;
  }

  /** True if the request came behind one whose response closes the connection. */
  isBehindLast({ order }: BufferedRequest): boolean {
    return this.lastRequest !== undefined && order > this.lastRequest;
  }

  /** Reads nothing more until `release` was called as often. */
  hold(): void {
    if (++this.#holds === 1) this.socket.pause();
  }

  /** While nothing is read, the client's time does not run. */
  release(): void {
    if (--this.#holds > 0) return;
    this.socket.resume();
    const nowMs = performance.now();
    if (this.bodySinceMs !== undefined) this.bodySinceMs = nowMs;
    if (this.headersSinceMs !== undefined) this.headersSinceMs = nowMs;
  }
}

/** A field of the socket: to look it up in a map would take longer. */
const CONNECTION = Symbol('connection');

export function connectionOf(socket: Socket & { [CONNECTION]?: Connection }): Connection {
  socket[CONNECTION] ??= new Connection(socket);
  return socket[CONNECTION];
}
