// Streams a body of any length. It applies backpressure to the client, and times out if the client sends too slowly.

import { PlantStoreError, unavailable } from '../../domain/errors.ts';
import type { BufferedRequest } from './buffered-request.ts';
import { connectionOf } from './connection.ts';
import { requestTimeout } from './raw-refusal.ts';
import type { Timeouts } from './timeouts.ts';

/** Number of bytes that must arrive within `bodyMs`, the timeout of a whole body on other routes. */
const BYTES_PER_TIMEOUT = 1024;
/** Minimum average rate while the server waits for the client. Faster sending earns credit, up to a limit. */
export const BYTES_PER_S = 1024;
export const GRACE_BYTES = 30 * BYTES_PER_S;
const MAX_CREDIT_BYTES = 60 * BYTES_PER_S;

/**
 * Throws `request_timeout` if the client is too slow. If `ended` aborts, throws its reason, or `unavailable` if the
 * service stops.
 */
export async function* readStreamedBody(
  request: BufferedRequest,
  ended: AbortSignal,
  timeouts: Timeouts,
): AsyncGenerator<Uint8Array> {
  connectionOf(request.socket).bodySinceMs = undefined; // this function enforces the timeout
  const chunks = request.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]();
  let missingBytes = BYTES_PER_TIMEOUT;
  let leftMs = timeouts.bodyMs;
  let creditBytes = GRACE_BYTES;
  for (;;) {
    const waitedSinceMs = performance.now(); // excludes the time in which the server processes the bytes
    const timeoutMs = Math.min(leftMs, (creditBytes / BYTES_PER_S) * 1000);
    const next = await orEnd(chunks.next(), timeoutMs, ended, () => requestTimeout(timeouts));
    if (next.done) return;
    missingBytes -= next.value.length;
    const waitedMs = performance.now() - waitedSinceMs;
    leftMs -= waitedMs;
    creditBytes = Math.min(MAX_CREDIT_BYTES, creditBytes + next.value.length) - (waitedMs / 1000) * BYTES_PER_S;
    if (missingBytes <= 0) {
      missingBytes = BYTES_PER_TIMEOUT;
      leftMs = timeouts.bodyMs;
    }
    yield next.value;
  }
}

function orEnd<T>(promise: Promise<T>, timeoutMs: number, ended: AbortSignal, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    // One more turn of the event loop: if the service itself stalled, it first reads the data that has arrived.
    const timer = setTimeout(() => setImmediate(() => reject(late())), timeoutMs);
    ended.addEventListener('abort', stop);
    if (ended.aborted) stop();
    promise.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      ended.removeEventListener('abort', stop);
    });

    function stop(): void {
      clearTimeout(timer);
      const { reason } = ended;
      const isOurs = reason instanceof PlantStoreError;
      reject(isOurs ? reason : unavailable('The service is stopping. Send the whole file again.'));
    }
  });
}
