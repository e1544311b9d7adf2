// Streams files to the import and from the export, as a client does.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { send } from './request.ts';

interface Target {
  port: number;
  secret: string;
}

export interface Report {
  created: number;
  replayed: number;
  failed: number;
  errors: { line: number; error: number; message: string }[];
}

export function importRequest({ port, secret }: Target, type: string, more = {}) {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': type, ...more };
  return request({ host: '127.0.0.1', port, method: 'POST', path: '/plants/import', headers, agent: false });
}

export async function load(server: Target, type: string, blocks: string[]): Promise<Report> {
  const sent = importRequest(server, type);
  for (const block of blocks) if (!sent.write(Buffer.from(block))) await once(sent, 'drain'); // For a string, "drain" may never be emitted.
  sent.end();
  return answerOf(sent);
}

export async function answerOf(sent: ClientRequest): Promise<Report> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = Buffer.concat(await response.toArray()).toString();
  assert.equal(response.statusCode, 200, body.slice(0, 300));
  return JSON.parse(body);
}

export async function download({ port, secret }: Target, accept: string): Promise<string> {
  const answer = await send(port, { path: '/plants/export', headers: { authorization: `Bearer ${secret}`, accept } });
  assert.equal(answer.status, 200);
  return answer.body;
}
