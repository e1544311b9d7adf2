// Webhook receivers that misbehave: they hang, drip, flood, send a gzip bomb or return errors.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

const GIGABYTE = 1e9;
const BLOCK_BYTES = 64 * 1024;
const BOMB_BYTES = 16 * 1024 * 1024;
const STEP_BYTES = 8 * 1024;
const STEP_MS = 2;

type Answering = (request: IncomingMessage, response: ServerResponse) => void;

export interface BadReceivers {
  byName: Record<string, Answering>;
  /** Bytes sent of each endless response until the server closed the connection. */
  readBytes: number[];
}

export function createBadReceivers(): BadReceivers {
  const readBytes: number[] = [];
  const block = Buffer.alloc(BLOCK_BYTES, 'x');
  const bomb = gzipSync(Buffer.alloc(BOMB_BYTES));
  return {
    readBytes,
    byName: {
      hangs: () => {},
      'drips its response'(_request, response) {
        const { socket } = response;
        let at = 0;
        const drip = setInterval(() => socket?.write('HTTP/1.1 200 OK\r\n'[at++] ?? 'x'), 900);
        socket?.on('close', () => clearInterval(drip));
      },
      'returns 1 GB'(_request, response) {
        let sent = 0;
        response.writeHead(200, { 'content-length': GIGABYTE });
        const flood = (): void => {
          while (!response.destroyed && sent < GIGABYTE) {
            sent += block.length;
            if (!response.write(block)) return void response.once('drain', flood);
          }
        };
        flood();
      },
      // Sends at a steady rate. A burst would measure the kernel's buffers instead of the bytes that the server reads.
      'returns data without end'(_request, response) {
        const step = Buffer.alloc(STEP_BYTES, 'x');
        let sent = 0;
        response.writeHead(200);
        const timer = setInterval(() => {
          sent += step.length;
          response.write(step);
        }, STEP_MS);
        response.on('close', () => {
          clearInterval(timer);
          readBytes.push(sent);
        });
      },
      'returns a gzip bomb': (_request, response) =>
        response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': bomb.length }).end(bomb),
      'returns 410': (_request, response) => response.writeHead(410).end(),
      'returns 429': (_request, response) => response.writeHead(429, { 'retry-after': '3600' }).end(),
      'returns 500': (_request, response) => response.writeHead(500).end(),
    },
  };
}
