// Sends the result of a handler: an empty response, text, parts of a text, a stream, or any other value as JSON.

import { once } from 'node:events';
import { pipeline, Readable } from 'node:stream';
import { printJson } from '../../lib/exact-json.ts';
import type { HttpReply } from './request-reply.ts';

/** JSON has no charset parameter (RFC 8259 §11). */
export const JSON_TYPE = 'application/json';
/** Statuses without a body, which have no Content-Length. */
const WITHOUT_LENGTH = [204, 304];

/** Sends the reply. Returns a promise only for a stream, and rejects if the stream fails before its first byte. */
export function sendReply(reply: HttpReply, given: unknown): void | Promise<void> {
  if (given instanceof Readable) return sendStream(reply, given);
  if (given === undefined) sendNothing(reply);
  else if (isParts(given)) sendParts(reply, given);
  else sendText(reply, typeof given === 'string' || Buffer.isBuffer(given) ? given : printJson(given));
}

function sendNothing({ raw, status, headers }: HttpReply): void {
  if (!WITHOUT_LENGTH.includes(status)) headers['content-length'] = '0';
  raw.writeHead(status, headers).end();
}

function sendText({ raw, status, headers }: HttpReply, text: string | Buffer): void {
  headers['content-type'] ??= JSON_TYPE;
  headers['content-length'] = String(Buffer.byteLength(text));
  raw.writeHead(status, headers).end(text); // for HEAD, Node sends only the headers
}

/** Sends buffers one after the other, without a copy of them. */
function sendParts({ raw, status, headers }: HttpReply, parts: Buffer[]): void {
  headers['content-type'] ??= JSON_TYPE;
  headers['content-length'] = String(parts.reduce((sum, { length }) => sum + length, 0));
  raw.writeHead(status, headers);
  raw.cork(); // the parts leave together
  for (const part of parts) raw.write(part);
  raw.end();
}

function isParts(given: unknown): given is Buffer[] {
  return Array.isArray(given) && Buffer.isBuffer(given[0]);
}

async function sendStream({ raw, status, headers }: HttpReply, stream: Readable): Promise<void> {
  if (raw.req.method === 'HEAD') {
    stream.destroy();
    raw.writeHead(status, headers).end();
    return;
  }
  const stop = () => stream.destroy();
  raw.once('close', stop); // the client may disconnect before the first byte
  await once(stream, 'readable'); // before this point a failure can still become an error response
  raw.off('close', stop); // pipeline does the same
  if (raw.destroyed) return void stream.destroy(); // the client disconnected while the handler was running
  raw.writeHead(status, headers);
  pipeline(stream, raw, () => {}); // if the stream fails, the connection is closed, which the client notices
}
