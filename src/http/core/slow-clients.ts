// Clients that send or read too slowly. All connections are checked at an interval: a timer for each, which every byte
// sets anew, would cost a create 2 %.

import type { BufferedRequest } from './buffered-request.ts';
import { type Connection, connectionOf, type ExportProgress } from './connection.ts';
import { acceptedBytes } from './node-internals.ts';
import type { Timeouts } from './timeouts.ts';

/** A client that reads fewer bytes than this in the time-out is as slow as one that reads none. */
export const UNREAD_BYTES = 5 * 1024;
/** Least rate at which an export is read while it waits for its reader; what was read faster before counts. */
export const EXPORT_BYTES_PER_S = 8 * 1024;
export const EXPORT_GRACE_BYTES = 60 * EXPORT_BYTES_PER_S;
const EXPORT_MAX_CREDIT_BYTES = 2 * 1024 * 1024;

/** Export slots are few: from now on the client must read this response at the least rate. */
export function noteExport(request: BufferedRequest): void {
  const readBytes = acceptedBytes(request.socket);
  connectionOf(request.socket).newestExport = { request, readBytes, creditBytes: EXPORT_GRACE_BYTES };
}

/** Calls `onLate` for a client whose request is late, and disconnects one that does not read. Returns what ends the checks. */
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
    if (wasStalled) return; // the service stalled itself: what clients have sent or read meanwhile is not known yet
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

/** Called at each check that finds the export waiting for its reader. */
function isTooSlow(progress: ExportProgress, readBytes: number, checkMs: number): boolean {
  const credit = Math.min(EXPORT_MAX_CREDIT_BYTES, progress.creditBytes + readBytes - progress.readBytes);
  progress.creditBytes = credit - (EXPORT_BYTES_PER_S * checkMs) / 1000;
  progress.readBytes = readBytes;
  return progress.creditBytes < 0;
}
