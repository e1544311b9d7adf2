// What a handler gave → the answer on the wire: nothing, a text, a stream, or anything else as JSON.

import { once } from 'node:events';
import { pipeline, Readable } from 'node:stream';
import { printJson } from '../../lib/exact-json.ts';
import type { HttpReply } from './request-reply.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
/** Of these the length is not said, as they have no body. */
const WITHOUT_LENGTH = [204, 304];

/** Gives a promise for a stream only, and rejects with what that throws before anything came of it. */
export function sendReply(reply: HttpReply, given: unknown): void | Promise<void> {
  if (given instanceof Readable) return sendStream(reply, given);
  if (given === undefined) sendNothing(reply);
  else sendText(reply, typeof given === 'string' || Buffer.isBuffer(given) ? given : printJson(given));
}

function sendNothing({ raw, status, headers }: HttpReply): void {
  if (!WITHOUT_LENGTH.includes(status)) headers['content-length'] = '0';
  raw.writeHead(status, headers).end();
}

function sendText({ raw, status, headers }: HttpReply, text: string | Buffer): void {
  headers['content-type'] ??= JSON_TYPE;
  headers['content-length'] = String(Buffer.byteLength(text));
  raw.writeHead(status, headers).end(text); // to a HEAD, Node sends the headers alone
}

async function sendStream({ raw, status, headers }: HttpReply, stream: Readable): Promise<void> {
  if (raw.req.method === 'HEAD') {
    stream.destroy();
    raw.writeHead(status, headers).end();
    return;
  }
  const stop = () => stream.destroy();
  raw.once('close', stop); // its client may go before anything came
  await once(stream, 'readable'); // until now it can still become an error
  raw.off('close', stop); // as pipeline does the same
  if (raw.destroyed) return void stream.destroy(); // its client went away while the handler worked
  raw.writeHead(status, headers);
  pipeline(stream, raw, () => {}); // who reads a stream that breaks off sees the connection cut
}
