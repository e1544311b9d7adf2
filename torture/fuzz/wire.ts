// A keep-alive connection that sends arbitrary bytes as requests, including those that a client library would reject.
// It reconnects if the server closes the connection.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Answer } from '../../testing/request.ts';

const TIMEOUT_MS = 20_000;

export interface Wire {
  /** Sends the request. The response to a HEAD has no body, regardless of its Content-Length. */
  ask(request: Uint8Array, isHead?: boolean): Promise<Answer>;
  close(): void;
}

export function createWire(port: number): Wire {
  let socket: Socket | undefined;

  return {
    async ask(request, isHead = false) {
      socket ??= await open(port);
      const own = socket;
      const answer = await new Promise<Answer>((resolve, reject) => {
        let received: Buffer = Buffer.alloc(0);
        own.on('data', (chunk: Buffer) => {
          received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
          const found = readAnswer(received, isHead);
          if (found) resolve(found.answer);
        });
        own.on('error', reject);
        own.on('close', () => reject(new Error(`closed without a response: ${received}`)));
        own.setTimeout(TIMEOUT_MS, () => reject(new Error(`no response within ${TIMEOUT_MS / 1000} s: ${received}`)));
        own.write(request);
      }).finally(() => own.removeAllListeners().on('error', () => {}));
      if (answer.headers.connection === 'close' || own.readyState !== 'open') {
        own.destroy();
        socket = undefined;
      }
      return answer;
    },
    close: () => socket?.destroy(),
  };
}

/** Returns all responses to these bytes. Closes the sending side after them. */
export async function askOnce(port: number, bytes: Uint8Array): Promise<Answer[]> {
  const socket = await open(port);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => {}); // the server may reset a connection that sends after the last response
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
  socket.end(bytes);
  await new Promise((resolve) => socket.on('close', resolve));
  const answers: Answer[] = [];
  for (let rest = Buffer.concat(chunks); rest.length > 0; ) {
    const found = readAnswer(rest, false);
    assert.ok(found, `not a response: ${rest}`);
    answers.push(found.answer);
    rest = rest.subarray(found.end);
  }
  return answers;
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  return socket;
}

/** Returns the first response, or undefined if it is not complete. */
function readAnswer(bytes: Buffer, isHead: boolean): { answer: Answer; end: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const [first = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(': ');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 2);
  }
  const start = headEnd + 4;
  if (status === 100) {
    const next = readAnswer(bytes.subarray(start), isHead);
    return next && { answer: next.answer, end: start + next.end };
  }
  const hasBody = !isHead && status !== 204 && status !== 304;
  const body = hasBody ? readBody(bytes, start, headers) : { text: '', end: start };
  return body && { answer: { status, headers, body: body.text }, end: body.end };
}

function readBody(
  bytes: Buffer,
  start: number,
  headers: Record<string, string>,
): { text: string; end: number } | undefined {
  if (headers['transfer-encoding'] !== 'chunked') {
    const end = start + Number(headers['content-length']);
    assert.ok(end >= start, `no length: ${JSON.stringify(headers)}`);
    return bytes.length < end ? undefined : { text: bytes.toString('utf8', start, end), end };
  }
  const chunks: Buffer[] = [];
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd === -1) return undefined;
    const length = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const end = lineEnd + 2 + length;
    if (bytes.length < end + 2) return undefined;
    if (length === 0) return { text: Buffer.concat(chunks).toString(), end: end + 2 };
    chunks.push(bytes.subarray(lineEnd + 2, end));
    at = end + 2;
  }
}
