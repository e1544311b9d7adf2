// Sends requests as a client does, and malformed ones.

import { type Agent, type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';

export interface Sent {
  method?: string;
  path?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Uint8Array;
  /** Keeps connections open. By default, each request opens its own. */
  agent?: Agent;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

export function send(port: number, { method = 'GET', path = '/', headers = {}, body, agent }: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: agent ?? false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Sends and receives JSON. */
export type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;

export function callerOf({ port }: { port: number }, secret: string): Call {
  return (method, path, body) =>
    send(port, {
      method,
      path,
      headers: { authorization: `Bearer ${secret}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
}

export function post(
  server: { port: number; secret: string },
  body: string | Uint8Array,
  headers = {},
): Promise<Answer> {
  return send(server.port, {
    method: 'POST',
    path: '/plants',
    headers: { authorization: `Bearer ${server.secret}`, 'content-type': 'application/json', ...headers },
    body,
  });
}

/** Imports a file. */
export function importFile(
  { port, secret }: { port: number; secret: string },
  type: 'text/csv' | 'application/x-ndjson',
  body: string,
): Promise<Answer> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': type };
  return send(port, { method: 'POST', path: '/plants/import', headers, body });
}

/** Creates a plant over the agent's connections. Returns the status, or the error code of the connection. */
export function createOver(
  agent: Agent,
  { port, secret }: { port: number; secret: string },
  plant: { id: bigint | number; name: string },
): Promise<number | string> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const sent = request({ host: '127.0.0.1', port, method: 'POST', path: '/plants', headers, agent }, (response) => {
      response.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.end(`{"id":${plant.id},"name":${JSON.stringify(plant.name)}}`);
  });
}

/** Sends bytes and returns all bytes that arrive until the server closes the connection. */
export function sendRaw(port: number, bytes: string | Uint8Array, timeoutMs = 20_000): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.on('error', (error) => (received ? resolve(received) : reject(error)));
    socket.on('close', () => resolve(received));
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`The server kept the connection open: ${received}`)));
  });
}

/** Returns a raw request. HOST, AUTH and TYPE are placeholders for valid headers. */
export function fillIn(secret: string, bytes: string): Uint8Array {
  const filled = bytes
    .replaceAll('HOST ', 'Host: x\r\n')
    .replaceAll('AUTH ', `Authorization: Bearer ${secret}\r\n`)
    .replaceAll('TYPE ', 'Content-Type: application/json\r\n');
  return Buffer.from(filled, 'latin1');
}
