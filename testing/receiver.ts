// A webhook receiver on a real socket. It records requests and responds as the test configures it.

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { atEndOfFile } from './clean-up.ts';
import { until } from './until.ts';

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  atMs: number;
  /** Number of the change. */
  seq: number;
}

export interface Receiver {
  url: string;
  port: number;
  /** Number of connections so far. */
  connections(): number;
  received: Received[];
  /** Waits until this number of requests was received. */
  count(wanted: number): Promise<void>;
  /** Returns the response to a request; 200 by default. */
  answer(handler: Handler): void;
  close(): Promise<void>;
}

export type Handler = (request: IncomingMessage, response: ServerResponse, received: Received) => void;

export async function startReceiver(handler: Handler = (_request, response) => response.end('ok')): Promise<Receiver> {
  let respond = handler;
  let connections = 0;
  const sockets = new Set<Socket>();
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { url: path = '', headers } = request;
      const seq = Number(/_(\d+)$/.exec(String(headers['webhook-id']))?.[1]);
      const one = { path, headers, body: Buffer.concat(chunks).toString(), atMs: performance.now(), seq };
      received.push(one);
      respond(request, response, one);
    });
  });
  server.on('connection', (socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  atEndOfFile(close);

  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    connections: () => connections,
    received,
    async count(wanted) {
      await until(() => received.length >= wanted);
    },
    answer(next) {
      respond = next;
    },
    close,
  };

  async function close(): Promise<void> {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}
