// Detects clients that send or read too slowly. It checks all connections at an interval: a timer per connection, reset
// by every byte, would cost 2 % of a create.

import type { BufferedRequest } from './buffered-request.ts';
import { type Connection, connectionOf, type ExportProgress } from './connection.ts';
import { acceptedBytes } from './node-internals.ts';
import type { Timeouts } from './timeouts.ts';

/** Minimum number of bytes that a client must read within the timeout. */
export const UNREAD_BYTES = 5 * 1024;
/** Minimum read rate of an export while data is pending. Faster reading earns credit. */
export const EXPORT_BYTES_PER_S = 8 * 1024;
export const EXPORT_GRACE_BYTES = 60 * EXPORT_BYTES_PER_S;
const EXPORT_MAX_CREDIT_BYTES = 2 * 1024 * 1024;

/** Applies the minimum read rate to this response, because export slots are few. */
export function noteExport(request: BufferedRequest): void {
  const readBytes = acceptedBytes(request.socket);
  connectionOf(request.socket).newestExport = { request, readBytes, creditBytes: EXPORT_GRACE_BYTES };
}

/**
 * Calls `onLate` for a client whose request is late, and disconnects clients that do not read. Returns a function that
 * stops the checks.
 */
export function watchSlowClients(
  connections: Set<Connection>,
  timeouts: Timeouts,
  onLate: (connection: Connection) => void,
): () => void {
  let checkedMs = performance.now();
  const timer = setInterval(checkAll, timeouts.checkMs).unref();
  return () => clearInterval(timer);

  function checkAll(): void {
    const nowMs = performance.now();
    const wasStalled = nowMs - checkedMs > 2 * timeouts.checkMs;
    checkedMs = nowMs;
    // If the service itself stalled, it has not yet processed the data that clients have sent or read meanwhile.
    if (wasStalled) return;
    for (const connection of connections) {
      if (!connection.isHeld && isLate(connection, nowMs, timeouts)) onLate(connection);
      if (connection.socket.writableLength > 0) checkReader(connection, nowMs, timeouts);
      else connection.unread = undefined;
    }
  }
}

function isLate(connection: Connection, nowMs: number, { bodyMs, headersMs }: Timeouts): boolean {
  const { newest, bodySinceMs = nowMs, headersSinceMs = nowMs } = connection;
  return (nowMs - bodySinceMs > bodyMs && !newest?.complete) || nowMs - headersSinceMs > headersMs;
}

function checkReader(connection: Connection, nowMs: number, timeouts: Timeouts): void {
  const { socket, newestExport, current } = connection;
  const readBytes = acceptedBytes(socket);
  connection.unread ??= { sinceMs: nowMs, readBytes };
  const { sinceMs, readBytes: before } = connection.unread;
  const isExport = newestExport !== undefined && current?.req === newestExport.request;
  const withinMs = isExport ? timeouts.unreadExportMs : timeouts.unreadMs;
  if (isExport && isTooSlow(newestExport, readBytes, timeouts.checkMs)) socket.destroy();
  else if (nowMs - sinceMs < withinMs) return;
  else if (readBytes - before < UNREAD_BYTES) socket.destroy();
  else connection.unread = { sinceMs: nowMs, readBytes };
}

/** True if the client reads an export too slowly. Call it at each check that finds pending data. */
function isTooSlow(progress: ExportProgress, readBytes: number, checkMs: number): boolean {
  const credit = Math.min(EXPORT_MAX_CREDIT_BYTES, progress.creditBytes + readBytes - progress.readBytes);
  progress.creditBytes = credit - (EXPORT_BYTES_PER_S * checkMs) / 1000;
  progress.readBytes = readBytes;
  return progress.creditBytes < 0;
}
