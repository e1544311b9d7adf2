// Parses the responses in a server's bytes strictly by RFC 9112. Ambiguity that a proxy could read differently is a
// failure.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { fillIn } from '../../testing/request.ts';

const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) [\t\x20-\x7e]*$/;
const HEADER = /^([!#$%&'*+.^_`|~\w-]+): ?([\t\x20-\x7e]*)$/;
const PATIENCE_MS = 4_000;

export interface Answer {
  status: number;
  headers: Map<string, string>;
  body: string;
}

/** Returns the responses without 1xx. Throws an AssertionError if they are malformed. */
export function readAnswers(bytes: Buffer): Answer[] {
  const answers: Answer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const endOfHead = bytes.indexOf('\r\n\r\n', at);
    assert.notEqual(endOfHead, -1, `a response is truncated in its headers: ${show(bytes.subarray(at))}`);
    const [first = '', ...lines] = bytes.toString('latin1', at, endOfHead).split('\r\n');
    const status = Number(STATUS_LINE.exec(first)?.[1]);
    assert.ok(status >= 100, `not a response: ${show(bytes.subarray(at))}`);
    const headers = new Map(
      lines.map((line) => {
        const [, name, value] = HEADER.exec(line) ?? assert.fail(`not a header: ${line}`);
        return [String(name).toLowerCase(), String(value)];
      }),
    );
    assert.equal(headers.size, lines.length, `a header was sent twice: ${lines.join(', ')}`);
    const start = endOfHead + 4;
    const length = [100, 204, 304].includes(status) ? 0 : Number(headers.get('content-length'));
    assert.ok(Number.isInteger(length), `a response has no length: ${lines.join(', ')}`);
    assert.ok(start + length <= bytes.length, `a response is truncated: ${show(bytes.subarray(at))}`);
    at = start + length;
    if (status >= 200) answers.push({ status, headers, body: bytes.toString('utf8', start, at) });
  }
  return answers;
}

/** Throws an AssertionError unless the response has the standard form of an error. */
export function assertError({ status, headers, body }: Answer, error?: number): void {
  const { error: number, message } = JSON.parse(body);
  assert.equal(Math.floor(number / 100), status, body);
  if (error !== undefined) assert.equal(number, error, body);
  assert.ok(typeof message === 'string' && message !== '', body);
  assert.equal(headers.get('content-type'), 'application/json');
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.match(headers.get('x-request-id') ?? '', /^\S+$/);
}

export interface Piece {
  bytes: Uint8Array;
  /** Delay before the piece is sent. */
  waitMs: number;
}

/**
 * Sends the pieces, and returns all bytes until the server closes the connection. With `half`, the sending side is
 * closed after the last piece.
 */
export function exchange(port: number, pieces: Piece[], { half = false } = {}): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true }, async () => {
      for (const { bytes, waitMs } of pieces) {
        if (waitMs > 0) await setTimeout(waitMs);
        if (socket.writable) socket.write(bytes);
      }
      if (half) socket.end();
    });
    socket.on('data', (chunk: Buffer) => received.push(chunk));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // The server closed the connection while the client sent for longer than it lingers, so the response may be lost.
      const isReset = error.code === 'EPIPE' || error.code === 'ECONNRESET';
      if (isReset) resolve(Buffer.concat(received));
      else reject(error);
    });
    socket.on('end', () => socket.destroy()); // a lingering server would wait for the client
    socket.on('close', () => resolve(Buffer.concat(received)));
    socket.setTimeout(PATIENCE_MS, () => {
      reject(new Error(`the connection was left open after ${show(Buffer.concat(received))}`));
      socket.destroy();
    });
  });
}

/** Sends the text and returns the responses. HOST, AUTH and TYPE stand for valid headers. */
export async function ask(server: { port: number; secret: string }, text: string): Promise<Answer[]> {
  return readAnswers(await exchange(server.port, [{ bytes: fillIn(server.secret, text), waitMs: 0 }]));
}

export function show(bytes: Uint8Array): string {
  return JSON.stringify(Buffer.from(bytes).toString('latin1').slice(0, 600));
}
