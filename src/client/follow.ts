// Follows the change log over an event stream, and reconnects when a connection ends or fails.

import type { Change } from '../domain/change.ts';
import { parseJson } from '../lib/exact-json.ts';
import { createEventReader } from './event-stream.ts';
import { openResponseBody, type Requester } from './request.ts';
import { parseWith, TransientError, toChange, unexpectedResponse } from './response.ts';

type Follow = (options?: { after?: number | undefined; signal?: AbortSignal | undefined }) => AsyncIterable<Change>;

/** Returns the client's `follow`. A connection without data for `silenceMs` counts as failed. */
export function createFollow({ requestOnce, waitBeforeRetry }: Requester, silenceMs: number): Follow {
  return async function* follow({ after, signal } = {}) {
    let last = after;
    for (let tries = 1; !signal?.aborted; tries++) {
      let retryAfterMs = 0;
      try {
        for await (const change of connect(last, signal)) {
          if (last !== undefined && change.seq <= last) continue;
          last = change.seq;
          tries = 1;
          yield change;
          if (signal?.aborted) return;
        }
      } catch (error) {
        if (signal?.aborted) return;
        if (!(error instanceof TransientError)) throw error;
        retryAfterMs = error.retryAfterMs;
      }
      await waitBeforeRetry(tries, retryAfterMs, signal).catch(() => {}); // the loop checks for the abort
    }
  };

  async function* connect(after: number | undefined, signal: AbortSignal | undefined): AsyncGenerator<Change> {
    const headers = { accept: 'text/event-stream', ...(after !== undefined && { 'last-event-id': String(after) }) };
    const body = await requestOnce({ method: 'GET', path: '/events', headers, signal }, async (response) => {
      const type = response.headers.get('content-type') ?? '';
      if (!type.startsWith('text/event-stream')) throw unexpectedResponse(`"${type}" is not an event stream`);
      return openResponseBody(response, silenceMs, signal);
    });
    const readEvents = createEventReader();
    try {
      for (let bytes = await body.read(); bytes !== undefined; bytes = await body.read()) {
        for (const { data } of readEvents(bytes)) yield parseWith(() => toChange(parseJson(data) as Change));
      }
    } finally {
      body.close();
    }
  }
}
