// Sends the result of a handler: an empty response, text, parts of a text, a stream, or any other value as JSON.

import type { ServerResponse } from 'node:http';
import type { Token } from '../../domain/token.ts';
import { paced } from '../../lib/event-loop-turns.ts';
import { printJson } from '../../lib/exact-json.ts';
import type { HttpReply } from './request-reply.ts';

/** JSON has no charset parameter (RFC 8259 §11). */
export const JSON_TYPE = 'application/json';
/** Statuses without a body, which have no Content-Length. */
const WITHOUT_LENGTH = [204, 304];

/** Size from which a response counts as unread. A smaller one takes no more memory than its request. */
const COUNTED_BYTES = 4 * 1024;

/** Counts bytes that the client has yet to read. Returns the function to call when it has. Throws if there are too many. */
export type CountUnread = (response: ServerResponse, bytes: number, token: Token | undefined) => () => void;

export interface Receiver {
  token: Token | undefined;
  /** Aborts when the token no longer permits the response. */
  ended: AbortSignal;
  countUnread: CountUnread;
}

/** Sends the reply. Returns a promise only for a stream. It rejects if the stream fails, or with the reason of `ended`. */
export function sendReply(reply: HttpReply, given: unknown, receiver: Receiver): void | Promise<void> {
  if (isStream(given)) return sendStream(reply, given, receiver);
  if (given === undefined) return sendNothing(reply);
  const content = isParts(given) || typeof given === 'string' || Buffer.isBuffer(given) ? given : printJson(given);
  const { raw } = reply;
  const bytes = Array.isArray(content) ? sum(content) : Buffer.byteLength(content);
  const isSent = raw.req.method !== 'HEAD' && !raw.destroyed;
  if (isSent && bytes >= COUNTED_BYTES) raw.once('close', receiver.countUnread(raw, bytes, receiver.token));
  reply.headers['content-type'] ??= JSON_TYPE;
  reply.headers['content-length'] = String(bytes);
  raw.writeHead(reply.status, reply.headers);
  if (!Array.isArray(content)) return void raw.end(content); // for HEAD, Node sends only the headers
  raw.cork(); // the parts leave together, without a copy of them
  for (const part of content) raw.write(part);
  raw.end();
}

function sendNothing({ raw, status, headers }: HttpReply): void {
  if (!WITHOUT_LENGTH.includes(status)) headers['content-length'] = '0';
  raw.writeHead(status, headers).end();
}

function sum(parts: Buffer[]): number {
  return parts.reduce((bytes, { length }) => bytes + length, 0);
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
  { token, ended, countUnread }: Receiver,
): Promise<void> {
  for await (const text of paced(texts, token?.id)) {
    ended.throwIfAborted();
    if (!raw.headersSent) raw.writeHead(status, headers);
    if (raw.destroyed || raw.req.method === 'HEAD') break;
    if (text === '' || raw.write(text)) continue;
    const isRead = countUnread(raw, raw.writableLength, token);
    await untilDrained(raw, ended).finally(isRead);
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
