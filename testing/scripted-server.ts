// A server whose responses a test scripts, including malformed ones, and a client that does not wait between retries.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { type ClientOptions, createClient, type PlantStoreClient, PlantStoreError } from '../src/client/client.ts';
import type { ErrorCode, ErrorDetail } from '../src/domain/errors.ts';

export const RECORD = '{"id":5,"name":"x","created":"2026-01-01T00:00:00.000Z","updated":"2026-01-01T00:00:00.000Z"}';

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

export async function serve(handle: Handle): Promise<string> {
  const faulty = createServer(handle).listen(0, '127.0.0.1');
  after(() => faulty.close().closeAllConnections());
  await once(faulty, 'listening');
  return `http://127.0.0.1:${(faulty.address() as AddressInfo).port}`;
}

/** Starts a server with these responses, in order. It repeats the last one. */
export async function serveInTurn(handles: Handle[]): Promise<{ url: string; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const url = await serve((request, response) => {
    requests.push(request);
    request.resume().once('end', () => handles[Math.min(requests.length, handles.length) - 1]?.(request, response));
  });
  return { url, requests };
}

export function answer(status: number, body = '', headers: Record<string, string> = {}): Handle {
  return (_request, response) => response.writeHead(status, { etag: '"1"', ...headers }).end(body);
}

export function drop(request: IncomingMessage): void {
  request.socket.destroy();
}

export function hang(): void {}

/** Returns a response that does not end by itself. `then` is called when its first part was sent. */
export function begin(body: string | Uint8Array, then: Handle = hang): Handle {
  return (request, response) => {
    response.writeHead(200, { etag: '"1"' }).flushHeaders();
    if (body.length > 0) response.write(body, () => then(request, response));
    else setImmediate(() => then(request, response));
  };
}

/** Returns a body whose parts are produced as they are read. A function is called in place of a part. */
export function bodyOf(...parts: (string | Uint8Array | (() => void))[]): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      pull(controller) {
        const part = parts.shift();
        if (part === undefined) controller.close();
        else if (typeof part === 'function') part();
        else controller.enqueue(Buffer.from(part as string));
      },
    },
    { highWaterMark: 0 },
  );
}

/** Waits for one turn of the event loop only, and records the maximum wait that was requested. */
export function quickClient(
  url: string,
  options: Partial<ClientOptions> = {},
  sleeps: number[] = [],
): PlantStoreClient {
  return createClient({
    url,
    token: 't',
    async sleep(timeMs) {
      sleeps.push(timeMs);
    },
    random: () => 1,
    ...options,
  });
}

export async function collect<T>(items: AsyncIterable<T>, count = Number.POSITIVE_INFINITY): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) {
    if (collected.push(item) === count) break;
  }
  return collected;
}

export async function rejects(
  promise: Promise<unknown>,
  expected: { code: ErrorCode; message?: string; detail?: ErrorDetail },
): Promise<PlantStoreError> {
  const error = await promise.then(
    () => assert.fail(`It did not throw ${expected.code}`),
    (error: unknown) => error,
  );
  assert.ok(error instanceof PlantStoreError, String(error));
  const { code, message, detail } = error;
  assert.deepEqual({ code, message, detail }, { message, detail, ...expected });
  return error;
}
