// Stops and resumes reading from a connection. Node resumes the socket itself after every request that it has parsed and
// for every body that somebody reads, so pausing the socket is not enough.

import { Socket } from 'node:net';

const HOLDS = Symbol('holds');

type Held = Socket & { [HOLDS]?: number };

/** Call once for each connection, before its first request. */
export function prepareHolds(socket: Held): void {
  socket[HOLDS] = 0;
  socket.resume = resumeUnlessHeld; // for good: to add and delete it would make each access to the socket slower
  socket.on('resume', pauseIfHeld);
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
