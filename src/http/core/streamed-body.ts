// A body of any length as it comes: it is read no faster than it is used, and waited for no longer than its client goes on.

import { PlantStoreError, unavailable } from '../../domain/errors.ts';
import type { BufferedRequest } from './buffered-request.ts';
import { connectionOf } from './connection.ts';
import { requestTimeout } from './raw-refusal.ts';
import type { Timeouts } from './timeouts.ts';

/** Each so many bytes have the time that a whole body has elsewhere. */
const LONG_BODY_BYTES = 1024;
/** Least rate over all the time that the client is waited for. What it sent faster before counts, up to a bound. */
export const BYTES_PER_S = 1024;
export const GRACE_BYTES = 30 * BYTES_PER_S;
const MAX_CREDIT_BYTES = 60 * BYTES_PER_S;

/** Throws `request_timeout` when too little comes for long, and when `ended` aborts its reason, or `unavailable`, as the service stops. */
export async function* readStreamedBody(
  request: BufferedRequest,
  ended: AbortSignal,
  timeouts: Timeouts,
): AsyncGenerator<Uint8Array> {
  connectionOf(request.socket).bodySinceMs = undefined; // its time is watched here
  const chunks = request.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]();
  let missingBytes = LONG_BODY_BYTES;
  let leftMs = timeouts.bodyMs;
  let creditBytes = GRACE_BYTES;
  for (;;) {
    const waitedSinceMs = performance.now(); // the time that its bytes are worked on is ours
    const timeoutMs = Math.min(leftMs, (creditBytes / BYTES_PER_S) * 1000);
    const next = await orEnd(chunks.next(), timeoutMs, ended, () => requestTimeout(timeouts));
    if (next.done) return;
    missingBytes -= next.value.length;
    const waitedMs = performance.now() - waitedSinceMs;
    leftMs -= waitedMs;
    creditBytes = Math.min(MAX_CREDIT_BYTES, creditBytes + next.value.length) - (waitedMs / 1000) * BYTES_PER_S;
    if (missingBytes <= 0) {
      missingBytes = LONG_BODY_BYTES;
      leftMs = timeouts.bodyMs;
    }
    yield next.value;
  }
}

function orEnd<T>(promise: Promise<T>, timeoutMs: number, ended: AbortSignal, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    // Not at once: if the service itself stalled, what has come meanwhile is read first.
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
      reject(isOurs ? reason : unavailable('The service is stopping: send the whole file again'));
    }
  });
}
