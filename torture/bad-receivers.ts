// Receivers that hang, drip, flood, pack and refuse.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

const GIGABYTE = 1e9;
const BOMB_BYTES = 16 * 1024 * 1024;
const STEP_BYTES = 8 * 1024;
const STEP_MS = 2;

type Answering = (request: IncomingMessage, response: ServerResponse) => void;

export interface BadReceivers {
  byName: Record<string, Answering>;
  /** Bytes of each answer that was sent a little at a time, until nobody wanted more. */
  readBytes: number[];
}

export function createBadReceivers(): BadReceivers {
  const readBytes: number[] = [];
  const bomb = gzipSync(Buffer.alloc(BOMB_BYTES));
  return {
    readBytes,
    byName: {
      hangs: () => {},
      'drips its answer'(_request, response) {
        const { socket } = response;
        let at = 0;
        const drip = setInterval(() => socket?.write('HTTP/1.1 200 OK\r\n'[at++] ?? 'x'), 900);
        socket?.on('close', () => clearInterval(drip));
      },
      'answers 1 GB'(_request, response) {
        const block = Buffer.alloc(256 * 1024, 'x');
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
      // Steadily, so that what is read cannot be told apart only by what fits into the buffers of the kernel.
      'answers without end'(_request, response) {
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
      'answers with a bomb': (_request, response) =>
        response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': bomb.length }).end(bomb),
      'answers 410': (_request, response) => response.writeHead(410).end(),
      'answers 429': (_request, response) => response.writeHead(429, { 'retry-after': '3600' }).end(),
      'answers 500': (_request, response) => response.writeHead(500).end(),
    },
  };
}
