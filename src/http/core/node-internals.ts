// Every use of undocumented behaviour of Node. node-internals.test.ts has a test for each one, which fails if an
// update of Node changes it.

import type { IncomingMessage as NodeRequest, Server } from 'node:http';
import net, { Server as NetServer, Socket } from 'node:net';
import { IncomingMessage } from '../../lib/lean-http.ts';

/** Sends the response even if the client has already ended its half of the connection. */
export function allowHalfOpen(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
}

/** Stops listening but keeps all connections: http.Server's own `close` disconnects idle ones. */
export function stopAccepting(server: Server): void {
  NetServer.prototype.close.call(server);
}

/** Runs `work` instead of Node's own close of the connection after a response with `Connection: close`. */
export function replaceEnd(socket: Socket, work: () => void): void {
  socket.destroySoon = work;
}

interface BoundHandle {
  getsockname(result: object): number;
  close(): void;
}

/**
 * Binds a port and frees it, without listening on it: a client that connected meanwhile would be reset. Returns a
 * negative error number if the port is in use, or 0. Node 26.4 has a class for it.
 */
export function tryToBind(address: string, port: number, family: number): number {
  const { _createServerHandle: create } = net as typeof net & {
    _createServerHandle(address: string, port: number, family: number): BoundHandle | number;
  };
  const handle = create(address, port, family);
  if (typeof handle === 'number') return handle;
  const error = handle.getsockname({}); // reports a port in use
  handle.close();
  return error;
}

interface Handle {
  bytesWritten: number;
  writeQueueSize: number;
  /** The handle below the TLS handle, which does not track the bytes that were sent. */
  _parent?: Handle;
}

/**
 * Returns the number of bytes that the client or its operating system has accepted. Node's public counters omit partial
 * writes.
 */
export function acceptedBytes({ _handle }: Socket & { _handle?: Handle | null }): number {
  const handle = _handle?._parent ?? _handle;
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}

/** A request whose parser passes the body to `receive`. Reading it as a stream would cost 10 % of a create. */
export class ParsedRequest extends IncomingMessage {
  override push(chunk: Buffer | null): boolean {
    return this.receive(chunk);
  }

  /** Receives each chunk of the body, and null at its end. The default implementation makes it a stream. */
  protected receive(chunk: Buffer | null): boolean {
    return super.push(chunk);
  }
}

/** Controls the reading of a connection. */
export interface ReadingControl {
  /** True while reading is paused. Bytes that were already read are still parsed. */
  readonly isHeld: boolean;
  /** True if no further request is parsed, even if its bytes were already read. */
  readonly isParsingStopped: boolean;
}

/** Code of the `clientError` that Node emits for a request that was not parsed because of `isParsingStopped`. */
export const PARSING_STOPPED_CODE = 'HPE_CB_HEADERS_COMPLETE';
/** Return value of `onIncoming` that ends the parsing. */
const STOP = -1;
const CONTROL = Symbol('reading control');

interface Parser {
  onIncoming(request: NodeRequest, shouldKeepAlive: boolean): number;
}

type Controlled = Socket & { [CONTROL]?: ReadingControl; parser?: Parser };

/**
 * Lets `control` pause the reading of a connection. Call it once, before the first request. Pausing the socket is not
 * enough: Node resumes it after every parsed request and for every body that is read. One read can also contain
 * thousands of requests, which Node would parse at once.
 *
 * `onTunnel` is called for a CONNECT, after which no request is parsed. Node itself would remove its listeners from the
 * socket, and so abandon the earlier requests and never notice that the client has disconnected.
 */
export function controlReading(socket: Controlled, control: ReadingControl, onTunnel: () => void): void {
  socket[CONTROL] = control;
  socket.resume = resumeUnlessHeld; // never removed: adding and deleting it would slow down each access to the socket
  socket.on('resume', pauseIfHeld);
  const { parser } = socket;
  if (!parser) return;
  const { onIncoming } = parser;
  parser.onIncoming = (request, shouldKeepAlive) => {
    if (control.isParsingStopped) return STOP;
    if (request.method !== 'CONNECT') return onIncoming(request, shouldKeepAlive);
    Object.assign(request, { upgrade: false }); // Node checks it after this call
    process.nextTick(onTunnel); // Node reports no error here
    return STOP;
  };
}

function resumeUnlessHeld(this: Controlled): Controlled {
  return this[CONTROL]?.isHeld ? this : Socket.prototype.resume.call(this);
}

/** Pauses again, because a `resume` takes effect one tick later, even if the socket was paused in between. */
function pauseIfHeld(this: Controlled): void {
  if (this[CONTROL]?.isHeld) this.emit('pause');
}
