// Sends the client's requests: applies the timeout, retries where that is safe, and turns error responses into errors.
// Like everything the client imports, it needs only fetch.

import { type ErrorCode, PlantStoreError } from '../domain/errors.ts';
import type { Author } from '../domain/plant.ts';
import type { Precondition, Versions } from '../domain/precondition.ts';
import { parseJson, printJson } from '../lib/exact-json.ts';
import { BAD_PORT, parseWith, TransientError, toPlantStoreError, unexpectedResponse } from './response.ts';

const RETRY_BASE_MS = 100;
const RETRY_CAP_MS = 10_000;
/** Default of `ClientOptions.timeoutMs`. */
export const DEFAULT_TIMEOUT_MS = 30_000;
/** Maximum delay of a timer. A timer with a longer delay fires immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Options of `createClient`. Only `url` and `token` are required. */
export interface ClientOptions {
  /** URL of the store, with its base path if it has one: `https://example.org/store`. */
  url: string | URL;
  /** Secret of a token, or a JWT. The client sends it as the bearer token of every request. */
  token: string;
  /** Timeout of each attempt, and of each chunk of an export, in milliseconds. The default is 30,000. */
  timeoutMs?: number;
  /** Maximum number of retries after a transient failure. The default is 5. */
  retries?: number;
  /**
   * Time without data after which `follow` opens a new connection, in milliseconds. The default is 45,000. The server
   * sends a comment every 15 s.
   */
  silenceMs?: number;
  /** Replacement for the global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** Replacement for the delay before a retry. It must reject with the signal's reason when the signal aborts. */
  sleep?(timeMs: number, signal?: AbortSignal): Promise<void>;
  /** Replacement for `Math.random`, used for the jitter of retries. */
  random?(): number;
  /** Replacement for `Date.now`, used to interpret dates in `Retry-After`. */
  clock?(): number;
}

/**
 * Options of a single call. `tokenId` has no effect, because the server identifies the token by its secret. It exists
 * so that the client implements `PlantStore`.
 */
export interface CallOptions extends Partial<Author> {
  /** Aborts the call, including retries and streams. The call then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Timeout of each attempt of this call, in milliseconds. Overrides `ClientOptions.timeoutMs`. */
  timeoutMs?: number | undefined;
}

interface ClientRequest extends CallOptions {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  headers?: Record<string, string>;
  body?: string | Blob;
  /** Set if the request is idempotent, as `create` is: a second one is a replay. A GET is always idempotent. */
  isRepeatable?: true;
}

/** The functions that the parts of the client use to send requests. */
export type Requester = ReturnType<typeof createRequester>;

/** Error codes with which the server rejects a request before it changes anything. */
const HAS_DONE_NOTHING: ErrorCode[] = ['over_rate', 'over_share'];

/** Returns the functions that send requests to the store at `base`. */
export function createRequester(base: string, options: ClientOptions) {
  const { token, timeoutMs = DEFAULT_TIMEOUT_MS, retries = 5 } = options;
  const { fetch = globalThis.fetch, sleep = sleepFor, random = Math.random, clock = Date.now } = options;
  return { requestJson, requestNothing, request, requestOnce, waitBeforeRetry };

  /** Sends a request and returns the JSON of the response, converted by `toValue`. */
  function requestJson<T>(call: ClientRequest, toValue = (json: unknown, _headers: Headers) => json as T): Promise<T> {
    return request(call, async (response) => {
      const text = await response.text();
      return parseWith(() => toValue(parseJson(text), response.headers));
    });
  }

  /** Sends a request whose response has status 204. */
  function requestNothing(call: ClientRequest): Promise<void> {
    return request(call, async (response) => {
      await response.text();
      if (response.status !== 204) throw unexpectedResponse(`its status is ${response.status} instead of 204`);
    });
  }

  /** Sends a request, with retries, and returns the result of `read`. */
  async function request<T>(call: ClientRequest, read: (response: Response) => Promise<T>): Promise<T> {
    const isRepeatable = call.method === 'GET' || call.method === 'HEAD' || call.isRepeatable;
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

  /** Sends a request without retries and returns the result of `read`. */
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

  /** Waits with full jitter, so that clients which were rejected together do not retry together. */
  function waitBeforeRetry(tries: number, retryAfterMs: number, signal: AbortSignal | undefined): Promise<void> {
    const ceilingMs = Math.min(RETRY_CAP_MS, RETRY_BASE_MS * 2 ** (tries - 1));
    return sleep(retryAfterMs + random() * ceilingMs, signal);
  }
}

/** Throws the signal's reason when the signal aborts, and a TransientError on a timeout or a network failure. */
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
    ending.abort(error); // closes the connection, because the rest of the response is not read
    signal?.throwIfAborted();
    if (error instanceof PlantStoreError) throw error;
    throw new TransientError('unavailable', `No response from the plant store: ${reasonOf(error)}`, { cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }

  function onTimeout(): void {
    ended.reject(new DOMException(`timed out after ${timeoutMs} ms`, 'TimeoutError'));
  }

  function onAbort(): void {
    ended.reject(signal?.reason);
  }
}

/** A response body that is read chunk by chunk. */
export type ResponseBody = ReturnType<typeof openResponseBody>;

/** Returns a reader for the body of a response. `timeoutMs` limits the wait for each chunk. */
export function openResponseBody({ body }: Response, timeoutMs: number, signal: AbortSignal | undefined) {
  const reader = body?.getReader();
  let closed = false;
  return {
    /** Returns the next chunk, or undefined at the end. */
    async read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
      const chunk = await withTimeout(timeoutMs, signal, async () => reader?.read());
      return chunk?.value;
    },
    /** True after `close`. */
    isClosed: () => closed,
    /** Closes the connection. */
    close(): void {
      closed = true;
      reader?.cancel().catch(() => {}); // rejects if the stream has failed already
    },
  };
}

/** Returns the reason of a network failure. Node reports "fetch failed" and puts the reason into the cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  if (cause instanceof Error && cause.message === BAD_PORT) return 'the port is reserved for another protocol';
  return (cause instanceof Error && cause.message) || message;
}

/** Returns the headers and body that send a value as JSON. */
export function json(
  value: unknown,
  condition?: Precondition,
  type = 'application/json',
): Pick<Required<ClientRequest>, 'headers' | 'body'> {
  return { headers: { 'content-type': type, ...toHeaders(condition) }, body: printJson(value) };
}

/** Returns the headers of a precondition. */
export function toHeaders({ ifMatch, ifNoneMatch }: Precondition = {}): Record<string, string> {
  return {
    ...(ifMatch && { 'if-match': toEtags(ifMatch) }),
    ...(ifNoneMatch && { 'if-none-match': toEtags(ifNoneMatch) }),
  };
}

/** An HTTP list cannot be empty, so an empty one becomes `"0"`, which matches no version. */
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
