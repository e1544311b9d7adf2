// Sends the result of a handler: an empty response, text, parts of a text, a stream, or any other value as JSON.

import type { ServerResponse } from 'node:http';
import { paced } from '../../lib/event-loop-turns.ts';
import { printJson } from '../../lib/exact-json.ts';
import type { HttpReply } from './request-reply.ts';

/** JSON has no charset parameter (RFC 8259 §11). */
export const JSON_TYPE = 'application/json';
/** Statuses without a body, which have no Content-Length. */
const WITHOUT_LENGTH = [204, 304];

/** Sends the reply. Returns a promise only for a stream. It rejects if the stream fails, or with the reason of `ended`. */
export function sendReply(reply: HttpReply, given: unknown, ended: AbortSignal): void | Promise<void> {
  if (isStream(given)) return sendStream(reply, given, ended);
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

function isStream(given: unknown): given is AsyncIterable<string> {
  return typeof given === 'object' && given !== null && Symbol.asyncIterator in given;
}

/**
 * Sends texts as fast as the client reads them. Before the first one, a failure can still become an error response. A
 * source that waits for long must yield empty texts, because a client that is gone is only noticed between two texts.
 */
async function sendStream(
  { raw, status, headers }: HttpReply,
  texts: AsyncIterable<string>,
  ended: AbortSignal,
): Promise<void> {
  for await (const text of paced(texts)) {
    ended.throwIfAborted();
    if (!raw.headersSent) raw.writeHead(status, headers);
    if (raw.destroyed || raw.req.method === 'HEAD') break;
    if (text !== '' && !raw.write(text)) await untilDrained(raw, ended);
  }
  ended.throwIfAborted(); // otherwise the client would take a part for the whole
  if (!raw.headersSent) raw.writeHead(status, headers);
  raw.end();
}

/** Resolves when the client has read what was sent, or is gone. Rejects with the reason of `ended`. */
async function untilDrained(raw: ServerResponse, ended: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = () => reject(ended.reason);
  raw.once('drain', resolve).once('close', resolve);
  ended.addEventListener('abort', stop);
  await promise.finally(() => {
    raw.off('drain', resolve).off('close', resolve);
    ended.removeEventListener('abort', stop);
  });
}
