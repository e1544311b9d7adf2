// Stops and resumes reading from a connection. Node resumes the socket itself after every request that it has parsed and
// for every body that somebody reads, so pausing the socket is not enough. And one read may bring thousands of requests,
// which Node would parse all at once.

import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

const HOLDS = Symbol('holds');
const IS_STOPPED = Symbol('is stopped');
/** llhttp takes what `onIncoming` returns; this is an error to it, which becomes a `clientError` with the code below. */
const STOP = -1;
export const STOPPED_CODE = 'HPE_CB_HEADERS_COMPLETE';

/** Node's own parser, which its types leave out. */
interface Parser {
  onIncoming(request: IncomingMessage, shouldKeepAlive: boolean): number;
}

type Held = Socket & { [HOLDS]?: number; [IS_STOPPED]?: boolean; parser?: Parser };

/** Call once for each connection, before its first request. */
export function prepareHolds(socket: Held): void {
  socket[HOLDS] = 0;
  socket[IS_STOPPED] = false;
  socket.resume = resumeUnlessHeld; // for good: to add and delete it would make each access to the socket slower
  socket.on('resume', pauseIfHeld);
  const { parser } = socket;
  if (!parser) return;
  const { onIncoming } = parser;
  parser.onIncoming = (request, shouldKeepAlive) => (socket[IS_STOPPED] ? STOP : onIncoming(request, shouldKeepAlive));
}

/** No request behind this one is parsed, not even those that were read already. It cannot be undone. */
export function stopParsing(socket: Held): void {
  socket[IS_STOPPED] = true;
}

/** Reading stops until `releaseReading` was called as often. What was read before is still parsed. */
export function holdReading(socket: Held): void {
  const holds = socket[HOLDS] ?? 0;
  socket[HOLDS] = holds + 1;
  if (holds === 0) socket.pause();
}

/** Returns true if the socket is read again. */
export function releaseReading(socket: Held): boolean {
  const holds = (socket[HOLDS] ?? 0) - 1;
  socket[HOLDS] = holds;
  if (holds > 0) return false;
  socket.resume();
  return true;
}

export function isReadingHeld(socket: Held): boolean {
  return (socket[HOLDS] ?? 0) > 0;
}

function resumeUnlessHeld(this: Held): Held {
  return isReadingHeld(this) ? this : Socket.prototype.resume.call(this);
}

/** A `resume` takes effect one tick later, also if the socket was paused meanwhile. */
function pauseIfHeld(this: Held): void {
  if (isReadingHeld(this)) this.emit('pause');
}
