// The state of one connection across all its requests.

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { BufferedRequest } from './buffered-request.ts';
import { networkOf } from './client-address.ts';
import type { ReadingControl } from './node-internals.ts';

/** Progress of an export whose client reads slowly. */
export interface ExportProgress {
  request: BufferedRequest;
  readBytes: number;
  /** Bytes by which the client may still fall behind the minimum rate. */
  creditBytes: number;
}

export class Connection implements ReadingControl {
  readonly socket: Socket;
  /** Unsent responses, in the order of their requests. The first `started` are in progress, the others are queued. */
  readonly responses: ServerResponse<BufferedRequest>[] = [];
  started = 0;
  /** True while a response in progress may take a very long time. */
  isLong = false;
  /** True while reading is paused until earlier requests have their responses. */
  isHeldByOrder = false;
  /** True while the next queued request waits for a turn of the event loop. */
  isStarting = false;
  /** The most recently started request, with or without a response. */
  newest: BufferedRequest | undefined;
  /** Number of started requests. */
  requests = 0;
  /** Position of the request whose response closes the connection. No later request may have an effect. */
  lastRequest: number | undefined;
  /** Status of the response that refused the connection. */
  refusedWith: number | undefined;
  isParsingStopped = false;
  /** True if the parser has reported a fault. It repeats the report for every chunk. */
  isFaulty = false;
  /** Start time of the newest request if it has a body, which may be incomplete. */
  bodySinceMs: number | undefined;
  /**
   * Time at which reading of late headers resumed. Node reports late headers only once, even while reading is paused.
   */
  headersSinceMs: number | undefined;
  /** Time at which a check found unread response data, and the number of bytes that the client had read by then. */
  unread: { sinceMs: number; readBytes: number } | undefined;
  newestExport: ExportProgress | undefined;
  #holds = 0;
  #network: string | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  /** The network of the client, or of its proxy. It is known only if it is first read while the client is connected. */
  get network(): string {
    this.#network ??= networkOf(this.socket.remoteAddress ?? '');
    return this.#network;
  }

  get isHeld(): boolean {
    return this.#holds > 0;
  }

  get queued(): number {
    return this.responses.length - this.started;
  }

  /** The response that is being sent, or is sent next. */
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

  /** True if the request follows one whose response closes the connection. */
  isBehindLast({ order }: BufferedRequest): boolean {
    return this.lastRequest !== undefined && order > this.lastRequest;
  }

  /** Pauses reading until `release` was called the same number of times. */
  hold(): void {
    if (++this.#holds === 1) this.socket.pause();
  }

  /** Resumes reading and restarts the client's timeouts, which do not run while reading is paused. */
  release(): void {
    if (--this.#holds > 0) return;
    this.socket.resume();
    const nowMs = performance.now();
    if (this.bodySinceMs !== undefined) this.bodySinceMs = nowMs;
    if (this.headersSinceMs !== undefined) this.headersSinceMs = nowMs;
  }
}

/** Property of the socket that holds its connection, which is faster than a map. */
const CONNECTION = Symbol('connection');

export function connectionOf(socket: Socket & { [CONNECTION]?: Connection }): Connection {
  socket[CONNECTION] ??= new Connection(socket);
  return socket[CONNECTION];
}
