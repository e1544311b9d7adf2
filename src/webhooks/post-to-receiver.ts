// One POST to a receiver, whatever it does: it is connected to only where it may be, gets so much time, and so much of its
// answer is read. Redirects are not followed, and nothing is decompressed.

import type * as http from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import type { TestResult } from '../domain/webhook.ts';
import { Agent, request } from '../lib/lean-http.ts';
import type { Message } from './signed-message.ts';
import { ForbiddenTarget, literalOf, type Targets } from './target-guard.ts';

/** Until the status of the answer is here. */
const STATUS_WITHIN_MS = 15_000;
/** For the rest of an answer, of which nothing depends. */
const REST_WITHIN_MS = 1000;
const MAX_ANSWER_BYTES = 64 * 1024;
const KEPT_ANSWER_BYTES = 1024;
const MAX_HEADER_BYTES = 16 * 1024;
/** Such as 103. */
const MAX_INTERIM_ANSWERS = 3;
const MAX_ERROR_CHARS = 200;
export const MAX_RETRY_AFTER_MS = 24 * 3_600_000;
const IDLE_CONNECTION_MS = 4000;

export const MAX_ATTEMPT_MS = STATUS_WITHIN_MS + REST_WITHIN_MS;

export interface Outcome {
  delivered: boolean;
  code?: number;
  answer?: string;
  /** Why it was not delivered. */
  error?: string;
  retryAfterMs?: number;
  durationMs: number;
}

export function toTestResult({ durationMs, retryAfterMs: _, ...outcome }: Outcome): TestResult {
  return { ...outcome, milliseconds: Math.round(durationMs) };
}

type Answered = Omit<Outcome, 'durationMs'>;

export interface Attempts {
  /** Never throws. */
  send(url: string, message: Message): Promise<Outcome>;
  /** Breaks off what is under way. */
  close(): void;
}

export function createAttempts(targets: Targets): Attempts {
  const options = { keepAlive: true, maxFreeSockets: 32, timeout: IDLE_CONNECTION_MS };
  const plain = { request, agent: new Agent(options) };
  let secure: Promise<typeof plain> | undefined;

  return {
    async send(text, message) {
      const startMs = performance.now();
      const answered = await attempt(new URL(text), message).catch((error) => ({
        delivered: false,
        error: describeError(error),
      }));
      return { ...answered, durationMs: performance.now() - startMs };
    },
    close() {
      plain.agent.destroy();
      secure?.then(({ agent }) => agent.destroy());
    },
  };

  /** Loaded when it is needed: TLS takes a while. */
  function loadSecure(): Promise<typeof plain> {
    secure ??= import('node:https').then(({ request, Agent }) => ({ request, agent: new Agent(options) }));
    return secure;
  }

  async function attempt(url: URL, message: Message): Promise<Answered> {
    if (isIP(literalOf(url))) await targets.addressesOf(url); // which nobody looks up
    const protocol = url.protocol === 'https:' ? await loadSecure() : plain;
    const endMs = performance.now() + STATUS_WITHIN_MS;
    try {
      return await post(url, message, protocol, endMs);
    } catch (error) {
      // The receiver has closed a connection that was kept, just before we used it: that says nothing about the receiver.
      if (error instanceof KeptConnectionLost) return post(url, message, protocol, endMs);
      throw error;
    }
  }

  function post(url: URL, { headers, body }: Message, protocol: typeof plain, endMs: number): Promise<Answered> {
    return new Promise((resolve, reject) => {
      const request = protocol.request(url, {
        method: 'POST',
        headers,
        agent: protocol.agent,
        lookup: lookupFor(url),
        maxHeaderSize: MAX_HEADER_BYTES,
      });
      const late = setTimeout(() => request.destroy(new Error(LATE)), endMs - performance.now());
      let isAnswered = false;
      let interims = 0;
      request.on('information', () => {
        if (++interims > MAX_INTERIM_ANSWERS) request.destroy(new Error('The receiver gives no final answer'));
      });
      request.on('error', (error: NodeJS.ErrnoException) => {
        clearTimeout(late);
        if (isAnswered) return; // the status counts, whatever comes after it
        const isLost = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        reject(isLost ? new KeptConnectionLost(error.message) : error);
      });
      request.on('response', (response) => {
        isAnswered = true;
        clearTimeout(late);
        readAnswer(response).then(resolve);
      });
      request.on('close', () => {
        clearTimeout(late);
        if (!isAnswered) reject(new Error('The receiver gave no answer')); // such as one that wants another protocol
      });
      request.end(body);
    });
  }

  /** The addresses that were checked, and no others, are those that are connected to. */
  function lookupFor(url: URL): LookupFunction {
    return (_hostname, { all }, callback) => {
      targets.addressesOf(url).then(
        (addresses) => {
          const [first] = addresses;
          if (all) callback(null, addresses);
          else callback(null, first?.address ?? '', first?.family);
        },
        (error) => callback(error, []),
      );
    };
  }
}

class KeptConnectionLost extends Error {}

async function readAnswer(response: http.IncomingMessage): Promise<Answered> {
  const { statusCode: code = 0, headers } = response;
  const kept = await readStart(response);
  const retryAfterMs = readRetryAfter(headers['retry-after']);
  const delivered = code >= 200 && code <= 299;
  return {
    delivered,
    ...(code >= 100 && { code }),
    answer: toText(kept),
    ...(!delivered && { error: `The receiver answered ${code}` }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** Ends with the answer, or when there was enough of it, or when it takes too long. */
function readStart(response: http.IncomingMessage): Promise<Buffer> {
  return new Promise((resolve) => {
    let bytes = 0;
    let kept = Buffer.alloc(0);
    const late = setTimeout(() => response.destroy(), REST_WITHIN_MS);
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (kept.length < KEPT_ANSWER_BYTES) kept = Buffer.concat([kept, chunk]).subarray(0, KEPT_ANSWER_BYTES);
      if (bytes >= MAX_ANSWER_BYTES) response.destroy();
    });
    response.on('error', () => {}); // the status counts, however the rest ends
    response.on('close', () => {
      clearTimeout(late);
      resolve(kept);
    });
  });
}

/** As text that every database can hold. */
function toText(bytes: Buffer): string {
  return new TextDecoder().decode(bytes, { stream: true }).replaceAll('\0', '\uFFFD');
}

/** In seconds, or as a date. */
function readRetryAfter(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return waitMs >= 0 ? Math.min(waitMs, MAX_RETRY_AFTER_MS) : undefined;
}

const LATE = `No answer within ${STATUS_WITHIN_MS / 1000} s`;
const WORDS: Record<string, string> = {
  ECONNREFUSED: 'The connection was refused',
  ECONNRESET: 'The receiver closed the connection without an answer',
  ENOTFOUND: 'The name cannot be found',
  EAI_AGAIN: 'The name cannot be found now',
  HPE_HEADER_OVERFLOW: 'The headers of the answer are too long',
};

function describeError(error: Error & { code?: string; errors?: Error[] }): string {
  if (error instanceof ForbiddenTarget) return `The URL ${error.message}`;
  const [first] = error.errors ?? []; // of several addresses
  const { code, message } = (first ?? error) as { code?: string; message: string };
  const words = WORDS[code ?? ''] ?? (message || code || 'It failed');
  return words
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, MAX_ERROR_CHARS)
    .toWellFormed(); // a certificate may hold anything
}
