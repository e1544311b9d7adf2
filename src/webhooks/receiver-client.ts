// Sends one POST to a receiver. The client connects only to addresses that the target guard allows, and limits the time
// and the size of the response. It follows no redirects and decompresses nothing.

import { isAscii } from 'node:buffer';
import type * as http from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import type { TestResult } from '../domain/delivery.ts';
import { Agent, request } from '../lib/lean-http.ts';
import type { Message } from './signed-message.ts';
import { ForbiddenTarget, literalOf, type TargetGuard } from './target-guard.ts';

/** Maximum time until the status of the response arrives. */
export const STATUS_TIMEOUT_MS = 15_000;
/** Maximum time for the rest of a response. It does not change the result. */
export const REST_TIMEOUT_MS = 1000;
export const MAX_RESPONSE_BYTES = 64 * 1024;
export const KEPT_RESPONSE_BYTES = 1024;
const MAX_HEADER_BYTES = 16 * 1024;
/** Maximum number of interim responses, such as 103, before the final one. */
const MAX_INTERIM_RESPONSES = 3;
const MAX_ERROR_CHARS = 200;
export const MAX_RETRY_AFTER_MS = 24 * 3_600_000;
const IDLE_CONNECTION_MS = 4000;

/** Maximum duration of an attempt. */
export const MAX_ATTEMPT_MS = STATUS_TIMEOUT_MS + REST_TIMEOUT_MS;

/** The outcome of an attempt. */
export interface Outcome {
  delivered: boolean;
  /** Status of the response. */
  code?: number;
  /** First 1 KiB of the response body. */
  answer?: string;
  /** Reason of the failure. */
  error?: string;
  retryAfterMs?: number;
  /** True if the response was too long to be read to its end. */
  isTooLong?: boolean;
  durationMs: number;
}

type Result = Omit<Outcome, 'durationMs'>;

/** Sends messages to receivers. */
export type ReceiverClient = ReturnType<typeof createReceiverClient>;

/** Returns a receiver client. `onBug` receives errors that no receiver can cause. The attempt also counts as failed. */
export function createReceiverClient(guard: TargetGuard, onBug: (error: unknown) => void) {
  const options = { keepAlive: true, maxFreeSockets: 32, timeout: IDLE_CONNECTION_MS };
  const plain = { request, agent: new Agent(options) };
  let secure: Promise<typeof plain> | undefined;

  return {
    /** Sends a message and returns the outcome, also of a failure. Throws only if `text` is not a URL. */
    async post(text: string, message: Message): Promise<Outcome> {
      const startMs = performance.now();
      const result = await attempt(new URL(text), message).catch((error): Result => {
        if (!isExpected(error)) onBug(error);
        return { delivered: false, error: describeError(error) };
      });
      return { ...result, durationMs: performance.now() - startMs };
    },
    /** Aborts the requests in flight. */
    close(): void {
      plain.agent.destroy();
      secure?.then(({ agent }) => agent.destroy());
    },
  };

  /** Loads TLS on first use, because loading it is slow. */
  function loadSecure(): Promise<typeof plain> {
    secure ??= import('node:https').then(({ request, Agent }) => ({ request, agent: new Agent(options) }));
    return secure;
  }

  async function attempt(url: URL, message: Message): Promise<Result> {
    if (isIP(literalOf(url))) await guard.addressesOf(url); // Node does not call `lookup` for an IP address
    const protocol = url.protocol === 'https:' ? await loadSecure() : plain;
    const endMs = performance.now() + STATUS_TIMEOUT_MS;
    try {
      return await postOnce(url, message, protocol, endMs);
    } catch (error) {
      // The receiver closed an idle connection just before it was reused. This is not a failure of the receiver.
      if (error instanceof KeptConnectionLost) return postOnce(url, message, protocol, endMs);
      throw error;
    }
  }

  function postOnce(url: URL, { headers, body }: Message, protocol: typeof plain, endMs: number): Promise<Result> {
    return new Promise((resolve, reject) => {
      const request = protocol.request(url, {
        method: 'POST',
        headers,
        agent: protocol.agent,
        lookup: lookupFor(url),
        maxHeaderSize: MAX_HEADER_BYTES,
      });
      const timeout = setTimeout(() => request.destroy(new ReceiverFailure(TIMED_OUT)), endMs - performance.now());
      let hasStatus = false;
      let interims = 0;
      request.on('information', () => {
        if (++interims > MAX_INTERIM_RESPONSES)
          request.destroy(new ReceiverFailure('The receiver sent too many interim responses'));
      });
      request.on('error', (error: NodeJS.ErrnoException) => {
        clearTimeout(timeout);
        if (hasStatus) return; // the status decides, regardless of later errors
        const isLost = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        reject(isLost ? new KeptConnectionLost(error.message) : error);
      });
      request.on('response', (response) => {
        hasStatus = true;
        clearTimeout(timeout);
        readResponse(response).then(resolve, reject);
      });
      request.on('close', () => {
        clearTimeout(timeout);
        // For example, the receiver requested an upgrade.
        if (!hasStatus) reject(new ReceiverFailure('The receiver sent no response'));
      });
      request.end(body);
    });
  }

  /** Returns a lookup that resolves only to checked addresses. */
  function lookupFor(url: URL): LookupFunction {
    return (_hostname, { all }, callback) => {
      guard.addressesOf(url).then(
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

/** Returns the API form of an outcome. */
export function toTestResult({ durationMs, retryAfterMs: _, isTooLong: __, ...outcome }: Outcome): TestResult {
  return { ...outcome, milliseconds: Math.round(durationMs) };
}

/** Thrown when the receiver closed a reused connection. */
class KeptConnectionLost extends Error {}

/** Thrown for a fault of the receiver for which Node has no error. */
class ReceiverFailure extends Error {}

async function readResponse(response: http.IncomingMessage): Promise<Result> {
  const { statusCode: code = 0, headers } = response;
  const { kept, isTooLong } = await readStart(response);
  const retryAfterMs = parseRetryAfter(headers['retry-after']);
  const delivered = code >= 200 && code <= 299;
  return {
    delivered,
    ...(code >= 100 && { code }),
    answer: toText(kept),
    ...(!delivered && { error: `The receiver responded with status ${code}` }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(isTooLong && { isTooLong }),
  };
}

/** Returns the first 1 KiB. Reads until the response ends, reaches 64 KiB or times out. */
function readStart(response: http.IncomingMessage): Promise<{ kept: Buffer; isTooLong: boolean }> {
  return new Promise((resolve) => {
    let bytes = 0;
    let kept: Buffer = Buffer.alloc(0);
    const timeout = setTimeout(() => response.destroy(), REST_TIMEOUT_MS);
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (kept.length < KEPT_RESPONSE_BYTES) kept = Buffer.concat([kept, chunk]).subarray(0, KEPT_RESPONSE_BYTES);
      if (bytes >= MAX_RESPONSE_BYTES) response.destroy();
    });
    response.on('error', () => {}); // the status decides, regardless of the rest
    response.on('close', () => {
      clearTimeout(timeout);
      resolve({ kept, isTooLong: bytes >= MAX_RESPONSE_BYTES });
    });
  });
}

/** Decodes bytes to text that every database can store. */
function toText(bytes: Buffer): string {
  const text = isAscii(bytes) ? bytes.toString('latin1') : new TextDecoder().decode(bytes, { stream: true });
  return text.replace(/\0+/g, (nuls) => '\uFFFD'.repeat(nuls.length)); // 20 times as fast as one by one
}

/** Returns the delay in a Retry-After header, which holds seconds or a date. */
function parseRetryAfter(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return waitMs >= 0 ? Math.min(waitMs, MAX_RETRY_AFTER_MS) : undefined;
}

const TIMED_OUT = `No response within ${STATUS_TIMEOUT_MS / 1000} s`;
const DESCRIPTIONS: Record<string, string> = {
  ECONNREFUSED: 'The receiver refused the connection',
  ECONNRESET: 'The receiver closed the connection without a response',
  ENOTFOUND: 'The host name does not exist',
  EAI_AGAIN: 'The host name cannot be resolved at the moment',
  HPE_HEADER_OVERFLOW: 'The response headers are too long',
};

/** True if a receiver, DNS or the network can cause the error. All such errors of Node have a code. */
function isExpected(error: NodeJS.ErrnoException): boolean {
  return error instanceof ReceiverFailure || error instanceof ForbiddenTarget || error.code !== undefined;
}

function describeError(error: Error & { code?: string; errors?: Error[] }): string {
  if (error instanceof ForbiddenTarget) return `The URL ${error.message}`;
  const [first] = error.errors ?? []; // one error per address
  const { code, message } = (first ?? error) as { code?: string; message: string };
  const description = DESCRIPTIONS[code ?? ''] ?? (message || code || 'The attempt failed');
  return description
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, MAX_ERROR_CHARS)
    .toWellFormed(); // a certificate in the message can contain any text
}
