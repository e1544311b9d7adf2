// Converts responses of the server for the client: into values with exact ids, and into errors with their codes.

import type { Change } from '../domain/change.ts';
import { ERROR_NUMBERS, type ErrorCode, type ErrorDetail, PlantStoreError } from '../domain/errors.ts';
import type { ImportResult, PlantCount, PlantRecord, Versioned } from '../domain/plant.ts';
import { parseJson } from '../lib/exact-json.ts';

/** Statuses of transient failures: overload, a timeout, or a proxy that cannot reach the server. */
const TRANSIENT_STATUSES = [408, 429, 502, 503, 504];

/** A failure that a retry can resolve. */
export class TransientError extends PlantStoreError {
  /** Minimum time before the next attempt, from `Retry-After`. */
  retryAfterMs = 0;
}

/** Returns the error that an unsuccessful response stands for. */
export async function toPlantStoreError(response: Response, nowMs: number): Promise<PlantStoreError> {
  const { status, headers } = response;
  const body = readErrorBody(await response.text());
  const code = codeOf(body?.error ?? (status >= 500 ? ERROR_NUMBERS.unavailable : status * 100));
  const message = body?.message ?? `The server returned status ${status} without an Error body`;
  const options = { detail: toDetail(code, headers) };
  if (!TRANSIENT_STATUSES.includes(status)) return new PlantStoreError(code, message, options);
  const error = new TransientError(code, message, options);
  error.retryAfterMs = toDelayMs(headers.get('retry-after') ?? '', nowMs);
  return error;
}

function readErrorBody(text: string): { error: number; message: string } | undefined {
  try {
    const { error, message } = parseJson(text) as Record<string, unknown>;
    return typeof error === 'number' && typeof message === 'string' ? { error, message } : undefined;
  } catch {
    return undefined; // such as the error page of a proxy
  }
}

/** Returns the code of an error number. A number of a newer server becomes the first known code of the same status. */
function codeOf(error: number): ErrorCode {
  const status = Math.floor(error / 100);
  const codes = Object.entries(ERROR_NUMBERS) as [ErrorCode, number][];
  const known =
    codes.find(([, number]) => number === error) ?? codes.find(([, number]) => Math.floor(number / 100) === status);
  return known?.[0] ?? (status === 429 || status >= 500 ? 'unavailable' : 'malformed_request');
}

function toDetail(code: ErrorCode, headers: Headers): ErrorDetail {
  const allow = headers.get('allow');
  const accept = headers.get('accept');
  const acceptEncoding = headers.get('accept-encoding');
  const scope = /\bscope="([^"]*)"/.exec(headers.get('www-authenticate') ?? '')?.[1];
  const seq = code === 'condition_failed' ? readEtag(headers) : undefined;
  return {
    ...(allow && { allow }),
    ...(accept && { accept }),
    ...(acceptEncoding && { acceptEncoding }),
    ...(scope && { scope }),
    ...(seq !== undefined && { seq }),
  };
}

/** Returns the delay in a Retry-After header, which holds seconds or a date, or 0 if it holds neither. */
function toDelayMs(retryAfter: string, nowMs: number): number {
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1000;
  return Math.max(0, Date.parse(retryAfter) - nowMs) || 0;
}

/** Returns the result of `read`. If it throws, the response is not from a plant store. */
export function parseWith<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof PlantStoreError ? error : unexpectedResponse((error as Error).message, error);
  }
}

/** Returns the error for a response that no plant store sends. */
export function unexpectedResponse(reason: string, cause?: unknown): PlantStoreError {
  return new PlantStoreError('unavailable', `The response is not from a plant store: ${reason}`, { cause });
}

/** Returns a function that returns the object if it has the fields. Otherwise the response is not from a plant store. */
export function having<T>(...fields: (keyof T & string)[]): (json: unknown) => T {
  return (json) => {
    const missing = fields.find((field) => (json as T | null)?.[field] === undefined);
    if (missing !== undefined) throw unexpectedResponse(`"${missing}" is missing`);
    return json as T;
  };
}

/** Returns the array. Throws if the response is none. */
export function toArray<T>(json: unknown): T[] {
  if (Array.isArray(json)) return json;
  throw unexpectedResponse('it is not an array');
}

/** Returns the plant with a bigint id. Despite its type, a parsed id is a number unless it is unsafe. */
export function withExactId<P extends { id: bigint }>(plant: P): P {
  return { ...plant, id: BigInt(plant.id) };
}

/** Returns a record with the version from its ETag. */
export function toVersioned(record: unknown, headers: Headers): Versioned {
  return { record: withExactId(record as PlantRecord), seq: seqOf(headers) };
}

/** Returns the change with a bigint plant id. */
export function toChange(change: Change): Change {
  return { ...change, plant: withExactId(change.plant) };
}

/** Converts an import report. `linesBefore` is added to each line number. */
export function toImportResult(report: unknown, linesBefore: number): ImportResult {
  const { errors, ...counts } = report as Omit<ImportResult, 'errors'> & {
    errors: { line: number; error: number; message: string }[];
  };
  for (const name of ['created', 'replayed', 'failed'] as const) {
    if (!Number.isSafeInteger(counts[name])) throw unexpectedResponse(`"${name}" is not an integer`);
  }
  return {
    ...counts,
    errors: errors.map(({ line, error, message }) => ({
      line: linesBefore + line,
      error: new PlantStoreError(codeOf(error), message),
    })),
  };
}

/** Returns the change number in the ETag. Throws if the header is missing or malformed. */
export function seqOf(headers: Headers): number {
  const seq = readEtag(headers);
  if (seq === undefined) throw unexpectedResponse('its ETag is missing or malformed');
  return seq;
}

/** Returns the number in the ETag, also in a weak one: a proxy that compresses weakens it. */
function readEtag(headers: Headers): number | undefined {
  const digits = /^(?:W\/)?"(\d+)"$/.exec(headers.get('etag') ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Returns a parameter of the next page from the Link header, or undefined on the last page. */
export function nextParameter(headers: Headers, base: string, name: 'cursor' | 'after' | 'before'): string | undefined {
  const target = /<([^>]*)>\s*;\s*rel="?next"?/.exec(headers.get('link') ?? '')?.[1];
  return target === undefined ? undefined : (new URL(target, base).searchParams.get(name) ?? undefined);
}

/** Returns the number of plants in the header Total-Count, or undefined without the header. */
export function totalOf(headers: Headers): PlantCount | undefined {
  const text = headers.get('total-count');
  return text === null ? undefined : { plants: Number(text.replace('>', '')), isMore: text.startsWith('>') };
}

/** Returns the number of the newest change in the header Last-Seq. Throws if the header is missing or malformed. */
export function lastSeqOf(headers: Headers): number {
  const text = headers.get('last-seq');
  if (text !== null && /^\d{1,16}$/.test(text)) return Number(text);
  throw unexpectedResponse('its Last-Seq is missing or malformed');
}

/** Node's error message for ports that fetch never connects to, such as 1 and 6000. */
export const BAD_PORT = 'bad port';

/** Returns the network error codes, such as ECONNREFUSED, or undefined if the server sent a response. */
export function networkCodesOf(error: PlantStoreError): string[] | undefined {
  if (!(error instanceof TransientError) || error.cause === undefined) return undefined;
  const cause = ((error.cause as Error).cause ?? {}) as {
    message?: string;
    code?: string;
    errors?: { code?: string }[];
  };
  const codes = [cause.message === BAD_PORT ? 'BAD_PORT' : cause.code, ...(cause.errors ?? []).map(({ code }) => code)];
  return codes.filter((code) => code !== undefined);
}
