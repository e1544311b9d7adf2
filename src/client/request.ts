// One call of the client over HTTP: sent again where that is safe, bounded in time, its refusal thrown as what it is.
// Needs nothing but fetch, like all that the client imports.

import { type ErrorCode, PlantStoreError } from '../domain/errors.ts';
import type { Author } from '../domain/plant.ts';
import type { Precondition, Versions } from '../domain/precondition.ts';
import { parseJson, printJson } from '../lib/exact-json.ts';
import { BAD_PORT, parseWith, TransientError, toPlantStoreError } from './response.ts';

const RETRY_BASE_MS = 100;
const RETRY_CAP_MS = 10_000;
export const DEFAULT_TIMEOUT_MS = 30_000;
/** A longer timer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface ClientOptions {
  /** With the base path, if it has one: `https://example.org/store`. */
  url: string | URL;
  token: string;
  /** For each try, and for each piece of an export. */
  timeoutMs?: number;
  /** How often a read or a create is sent again after a passing failure. */
  retries?: number;
  /** A followed connection that is silent for so long is given up for a new one: every 15 s there is a comment. */
  silenceMs?: number;
  fetch?: typeof globalThis.fetch;
  /** Rejects with the signal's reason when that aborts. */
  sleep?(timeMs: number, signal?: AbortSignal): Promise<void>;
  random?(): number;
  clock?(): number;
}

/** The token says who it is, so `tokenId` has no effect: it is there to make the client a PlantStore. */
export interface CallOptions extends Partial<Author> {
  /** Ends the call, also a retry or a stream, with its reason. */
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

interface ClientRequest extends CallOptions {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  headers?: Record<string, string>;
  body?: string | Blob;
  /** To do it twice is to do it once, as a create that is sent again is a replay. A GET is so anyway. */
  isRepeatable?: true;
}

export type Requester = ReturnType<typeof createRequester>;

/** The server refuses these before it does anything. */
const HAS_DONE_NOTHING: ErrorCode[] = ['over_rate', 'over_share'];

export function createRequester(base: string, options: ClientOptions) {
  const { token, timeoutMs = DEFAULT_TIMEOUT_MS, retries = 5 } = options;
  const { fetch = globalThis.fetch, sleep = sleepFor, random = Math.random, clock = Date.now } = options;
  return { requestJson, request, requestOnce, waitBeforeRetry };

  /** Returns the JSON of the answer. */
  function requestJson<T>(call: ClientRequest, toValue = (json: unknown, _headers: Headers) => json as T): Promise<T> {
    return request(call, async (response) => {
      const text = await response.text();
      return parseWith(() => toValue(parseJson(text), response.headers));
    });
  }

  /** Returns what `read` makes of the answer. */
  async function request<T>(call: ClientRequest, read: (response: Response) => Promise<T>): Promise<T> {
    const isRepeatable = call.method === 'GET' || call.isRepeatable;
    for (let tries = 1; ; tries++) {
      try {
        return await requestOnce(call, read);
      } catch (error) {
        const mayRepeat = isRepeatable || HAS_DONE_NOTHING.includes((error as PlantStoreError).code);
        if (!(error instanceof TransientError) || !mayRepeat || tries > retries) throw error;
        await waitBeforeRetry(tries, error.retryAfterMs, call.signal);
      }
    }
  }

  function requestOnce<T>(call: ClientRequest, read: (response: Response) => Promise<T>): Promise<T> {
    return withTimeout(call.timeoutMs ?? timeoutMs, call.signal, async (signal) => {
      const response = await fetch(base + call.path, {
        method: call.method,
        headers: { accept: 'application/json', authorization: `Bearer ${token}`, ...call.headers },
        ...(call.body !== undefined && { body: call.body }),
        signal,
        redirect: 'error',
        credentials: 'omit',
        cache: 'no-store',
      });
      if (!response.ok) throw await toPlantStoreError(response, clock());
      return read(response);
    });
  }

  /** Full jitter; those that were sent away together must not come back together. */
  function waitBeforeRetry(tries: number, retryAfterMs: number, signal: AbortSignal | undefined): Promise<void> {
    const ceilingMs = Math.min(RETRY_CAP_MS, RETRY_BASE_MS * 2 ** (tries - 1));
    return sleep(retryAfterMs + random() * ceilingMs, signal);
  }
}

/** Throws the signal's reason when it aborts, and a TransientError when the time is up or the network fails. */
async function withTimeout<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const ending = new AbortController();
  const ended = Promise.withResolvers<never>();
  const timer = setTimeout(onTimeout, Math.min(timeoutMs, MAX_TIMER_MS));
  signal?.addEventListener('abort', onAbort);
  try {
    return await Promise.race([work(ending.signal), ended.promise]);
  } catch (error) {
    ending.abort(error); // what is left of the answer will not be read
    signal?.throwIfAborted();
    if (error instanceof PlantStoreError) throw error;
    throw new TransientError('unavailable', `No answer from the plant store: ${reasonOf(error)}`, { cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }

  function onTimeout(): void {
    ended.reject(new DOMException(`nothing came within ${timeoutMs} ms`, 'TimeoutError'));
  }

  function onAbort(): void {
    ended.reject(signal?.reason);
  }
}

export type ResponseBody = ReturnType<typeof openResponseBody>;

/** The body of an answer that comes piece by piece, for as long as somebody reads it. */
export function openResponseBody({ body }: Response, timeoutMs: number, signal: AbortSignal | undefined) {
  const reader = body?.getReader();
  let closed = false;
  return {
    /** Returns the next piece, or undefined at the end. */
    async read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
      const piece = await withTimeout(timeoutMs, signal, async () => reader?.read());
      return piece?.value;
    },
    isClosed: () => closed,
    close(): void {
      closed = true;
      reader?.cancel().catch(() => {}); // it has failed before
    },
  };
}

/** Behind Node's "fetch failed" is what really happened. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  if (cause instanceof Error && cause.message === BAD_PORT) return 'the port belongs to something else than HTTP';
  return (cause instanceof Error && cause.message) || message;
}

export function toQuery(parameters: Record<string, string | number | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.toString() && `?${query}`;
}

export function json(
  value: unknown,
  condition?: Precondition,
  type = 'application/json',
): Pick<Required<ClientRequest>, 'headers' | 'body'> {
  return { headers: { 'content-type': type, ...toHeaders(condition) }, body: printJson(value) };
}

export function toHeaders({ ifMatch, ifNoneMatch }: Precondition = {}): Record<string, string> {
  return {
    ...(ifMatch && { 'if-match': toEtags(ifMatch) }),
    ...(ifNoneMatch && { 'if-none-match': toEtags(ifNoneMatch) }),
  };
}

/** A list cannot be empty in HTTP; no version is 0. */
function toEtags(versions: Versions): string {
  if (versions === '*') return '*';
  return versions.length === 0 ? '"0"' : versions.map((seq) => `"${seq}"`).join(', ');
}

function sleepFor(timeMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(wake, Math.min(timeMs, MAX_TIMER_MS));
    signal?.addEventListener('abort', wake);

    function wake(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    }
  });
}
