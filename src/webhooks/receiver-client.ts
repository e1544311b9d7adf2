// Sends one POST to a receiver. The client connects only to addresses that the target guard allows, and limits the time
// and the size of the response. It follows no redirects and decompresses nothing.

import { isAscii } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import type { Agent, buildConnector, Dispatcher } from 'undici';
import type { TestResult } from '../domain/delivery.ts';
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
  let connections: Promise<Connections> | undefined;
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
      void connections?.then(({ agent }) => agent.destroy());
    },
  };

  async function attempt(url: URL, message: Message): Promise<Result> {
    if (isIP(literalOf(url))) await guard.addressesOf(url); // Node does not call `lookup` for an IP address
    connections ??= openConnections(guard);
    const { agent, wasReused } = await connections;
    const endMs = performance.now() + STATUS_TIMEOUT_MS;
    try {
      return await postOnce(url, message, agent, endMs);
    } catch (error) {
      // The receiver closed an idle connection just before it was reused. This is not a failure of the receiver.
      if (wasReused(error)) return postOnce(url, message, agent, endMs);
      throw error;
    }
  }
}

/** The connections to receivers. `wasReused` is true if the error is the loss of a connection that had been used before. */
type Connections = { agent: Agent; wasReused(error: unknown): boolean };

/** Loads the HTTP client on first use, because loading it is slow. */
async function openConnections(guard: TargetGuard): Promise<Connections> {
  const { Agent, buildConnector } = await import('undici');
  const [connectPlain, connectSecure] = ['http:', 'https:'].map((protocol) =>
    buildConnector({ timeout: STATUS_TIMEOUT_MS, lookup: lookupFor(guard, protocol) } as buildConnector.BuildOptions),
  ) as [buildConnector.connector, buildConnector.connector];
  const losses = new WeakSet<object>();
  const agent = new Agent({
    keepAliveTimeout: IDLE_CONNECTION_MS,
    keepAliveMaxTimeout: IDLE_CONNECTION_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect(options, callback) {
      const connect = options.protocol === 'https:' ? connectSecure : connectPlain;
      connect(options, (...result) => {
        const [, socket] = result;
        socket?.prependListener('error', (error: NodeJS.ErrnoException) => {
          if (socket.bytesRead > 0 && LOST_CODES.includes(error.code ?? '')) losses.add(error);
        });
        callback(...result);
      });
    },
  });
  return { agent, wasReused: (error) => losses.has(error as object) };
}

/** Returns a lookup that resolves only to checked addresses. */
function lookupFor(guard: TargetGuard, protocol: string): LookupFunction {
  return (hostname, { all }, callback) => {
    guard.addressesOf({ hostname, protocol }).then(
      (addresses) => {
        const [first] = addresses;
        if (all) callback(null, addresses);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error) => callback(error, []),
    );
  };
}

/** Sends a message once. Rejects if no status arrives until `endMs`. */
function postOnce(url: URL, { headers, body }: Message, agent: Agent, endMs: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const options = { origin: url.origin, path: url.pathname + url.search, method: 'POST' as const, headers, body };
    agent.dispatch(options, new ResponseReader(endMs - performance.now(), resolve, reject));
  });
}

/** Reads one response: the status, and the body until it ends, reaches 64 KiB or times out. */
class ResponseReader {
  private controller: Dispatcher.DispatchController | undefined;
  private readonly resolve: (result: Result) => void;
  private readonly reject: (error: Error) => void;
  private timeout: NodeJS.Timeout;
  private isFailed = false;
  private interims = 0;
  private code: number | undefined;
  private retryAfter: string | undefined;
  private bytes = 0;
  private kept: Buffer = Buffer.alloc(0);

  constructor(timeoutMs: number, resolve: (result: Result) => void, reject: (error: Error) => void) {
    this.resolve = resolve;
    this.reject = reject;
    this.timeout = setTimeout(() => this.fail(new ReceiverFailure(TIMED_OUT)), timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.isFailed) controller.abort(ENOUGH); // it timed out before a connection was open
  }

  onResponseStart(controller: Dispatcher.DispatchController, code: number, headers: IncomingHttpHeaders): void {
    if (code >= 200) {
      this.code = code;
      this.retryAfter = headers['retry-after'];
      clearTimeout(this.timeout);
      this.timeout = setTimeout(() => controller.abort(ENOUGH), REST_TIMEOUT_MS);
    } else if (++this.interims > MAX_INTERIM_RESPONSES) {
      this.fail(new ReceiverFailure('The receiver sent too many interim responses'));
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.kept.length < KEPT_RESPONSE_BYTES)
      this.kept = Buffer.concat([this.kept, chunk]).subarray(0, KEPT_RESPONSE_BYTES);
    if (this.bytes >= MAX_RESPONSE_BYTES) controller.abort(ENOUGH);
  }

  onResponseEnd(): void {
    clearTimeout(this.timeout);
    const { code = 0, kept, bytes } = this;
    const retryAfterMs = parseRetryAfter(this.retryAfter);
    const delivered = code >= 200 && code <= 299;
    this.resolve({
      delivered,
      code,
      answer: toText(kept),
      ...(!delivered && { error: `The receiver responded with status ${code}` }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(bytes >= MAX_RESPONSE_BYTES && { isTooLong: true }),
    });
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.code !== undefined)
      this.onResponseEnd(); // the status decides, regardless of later errors
    else this.fail(error);
  }

  private fail(error: Error): void {
    clearTimeout(this.timeout);
    this.isFailed = true;
    this.reject(error);
    this.controller?.abort(ENOUGH);
  }
}

/** Returns the API form of an outcome. */
export function toTestResult({ durationMs, retryAfterMs: _, isTooLong: __, ...outcome }: Outcome): TestResult {
  return { ...outcome, milliseconds: Math.round(durationMs) };
}

/** Thrown for a fault of the receiver for which Node has no error. */
class ReceiverFailure extends Error {}

/** Reason to abort a request whose result is known. */
const ENOUGH = new ReceiverFailure('The rest of the response is not read');

/** Codes of errors that mean that the receiver closed the connection. */
const LOST_CODES = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];

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
/** Descriptions of errors, by their message or their code. */
const DESCRIPTIONS: Record<string, string> = {
  ECONNREFUSED: 'The receiver refused the connection',
  ECONNRESET: 'The receiver closed the connection without a response',
  ENOTFOUND: 'The host name does not exist',
  EAI_AGAIN: 'The host name cannot be resolved at the moment',
  UND_ERR_CONNECT_TIMEOUT: TIMED_OUT,
  UND_ERR_HEADERS_OVERFLOW: 'The response headers are too long',
  UND_ERR_SOCKET: 'The receiver closed the connection without a response',
  'bad response': 'The receiver sent a response that does not belong to the request',
  'bad upgrade': 'The receiver switched to another protocol',
};

/** True if a receiver, DNS or the network can cause the error. Almost all such errors have a code. */
function isExpected(error: NodeJS.ErrnoException): boolean {
  const isKnown = error instanceof ReceiverFailure || error instanceof ForbiddenTarget;
  return isKnown || error.code !== undefined || error.name === 'HTTPParserError';
}

function describeError(error: Error & { code?: string; errors?: Error[] }): string {
  if (error instanceof ForbiddenTarget) return `The URL ${error.message}`;
  const [first] = error.errors ?? []; // one error per address
  const { code, message } = (first ?? error) as { code?: string; message: string };
  const description = DESCRIPTIONS[message] ?? DESCRIPTIONS[code ?? ''] ?? (message || code || 'The attempt failed');
  return description
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, MAX_ERROR_CHARS)
    .toWellFormed(); // a certificate in the message can contain any text
}
