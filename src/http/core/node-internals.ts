// Everything that the service relies on in Node beyond Node's documentation. For each there is a test in
// node-internals.test.ts, which fails when an update of Node changes it.

import type { IncomingMessage as NodeRequest, Server } from 'node:http';
import { Server as NetServer, Socket } from 'node:net';
import { IncomingMessage } from '../../lib/lean-http.ts';

/** Lets a client that has ended its half of the connection still get its response. */
export function allowHalfOpen(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
}

/** Stops listening and keeps all connections: http.Server's own `close` would disconnect the idle ones. */
export function stopAccepting(server: Server): void {
  NetServer.prototype.close.call(server);
}

/** Runs `work` in the place of the end that Node gives to the connection after a response with `Connection: close`. */
export function replaceEnd(socket: Socket, work: () => void): void {
  socket.destroySoon = work;
}

interface Handle {
  bytesWritten: number;
  writeQueueSize: number;
  /** The handle below that of TLS, which does not know what becomes of its bytes. */
  _parent?: Handle;
}

/** Returns how many bytes the client, or the system for it, has accepted. Node's public counters leave out parts of a write. */
export function acceptedBytes({ _handle }: Socket & { _handle?: Handle | null }): number {
  const handle = _handle?._parent ?? _handle;
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}

/** A request whose body the parser hands to `receive`: to read it as a stream would make a create 10 % dearer. */
export class ParsedRequest extends IncomingMessage {
  override push(chunk: Buffer | null): boolean {
    return this.receive(chunk);
  }

  /** Called with each piece of the body, and with null at its end. This one makes it a stream. */
  protected receive(chunk: Buffer | null): boolean {
    return super.push(chunk);
  }
}

/** Decides what is read of a connection, at any time. */
export interface ReadingControl {
  /** True while nothing more is read. What was read before is still parsed. */
  readonly isHeld: boolean;
  /** True if no further request is parsed, not even one that was read already. */
  readonly isParsingStopped: boolean;
}

/** Error code of the `clientError` by which Node reports a request that was not parsed because `isParsingStopped`. */
export const PARSING_STOPPED_CODE = 'HPE_CB_HEADERS_COMPLETE';
/** llhttp reads the return value of `onIncoming`; this one is an error. */
const STOP = -1;
const CONTROL = Symbol('reading control');

interface Parser {
  onIncoming(request: NodeRequest, shouldKeepAlive: boolean): number;
}

type Controlled = Socket & { [CONTROL]?: ReadingControl; parser?: Parser };

/**
 * Puts the reading of a connection under `control`. Call it once, before the first request. Node resumes the socket itself
 * after every request that it has parsed and for every body that somebody reads, so pausing the socket is not enough. And
 * one read may bring thousands of requests, which Node would parse all at once.
 */
export function controlReading(socket: Controlled, control: ReadingControl): void {
  socket[CONTROL] = control;
  socket.resume = resumeUnlessHeld; // for good: to add and delete it would make each access to the socket slower
  socket.on('resume', pauseIfHeld);
  const { parser } = socket;
  if (!parser) return;
  const { onIncoming } = parser;
  parser.onIncoming = (request, shouldKeepAlive) =>
    control.isParsingStopped ? STOP : onIncoming(request, shouldKeepAlive);
}

function resumeUnlessHeld(this: Controlled): Controlled {
  return this[CONTROL]?.isHeld ? this : Socket.prototype.resume.call(this);
}

/** A `resume` takes effect one tick later, also if the socket was paused meanwhile. */
function pauseIfHeld(this: Controlled): void {
  if (this[CONTROL]?.isHeld) this.emit('pause');
}
