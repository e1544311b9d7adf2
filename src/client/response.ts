// What an answer of the service says, for the client: values with exact ids, and errors with their codes restored.

import type { Change } from '../domain/change.ts';
import { ERROR_NUMBERS, type ErrorCode, type ErrorDetail, PlantStoreError } from '../domain/errors.ts';
import type { ImportResult, PlantRecord, Versioned } from '../domain/plant.ts';
import { parseJson } from '../lib/exact-json.ts';

/** Too much at once, or a proxy that did not get through. */
const PASSING_STATUSES = [408, 429, 502, 503, 504];

/** One that may be over the next time. */
export class TransientError extends PlantStoreError {
  retryAfterMs = 0;
}

export async function toPlantStoreError(response: Response, nowMs: number): Promise<PlantStoreError> {
  const { status, headers } = response;
  const body = readErrorBody(await response.text());
  const code = codeOf(body?.error ?? (status >= 500 ? ERROR_NUMBERS.unavailable : status * 100));
  const message = body?.message ?? `The answer has status ${status} and no Error`;
  const options = { detail: toDetail(code, headers) };
  if (!PASSING_STATUSES.includes(status)) return new PlantStoreError(code, message, options);
  const error = new TransientError(code, message, options);
  error.retryAfterMs = toDelayMs(headers.get('retry-after') ?? '', nowMs);
  return error;
}

function readErrorBody(text: string): { error: number; message: string } | undefined {
  try {
    const { error, message } = parseJson(text) as Record<string, unknown>;
    return typeof error === 'number' && typeof message === 'string' ? { error, message } : undefined;
  } catch {
    return undefined; // a proxy's page
  }
}

/** A number of a newer service is taken for the nearest that is known. */
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

/** Of a Retry-After in seconds, or with a date. */
function toDelayMs(retryAfter: string, nowMs: number): number {
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1000;
  return Math.max(0, Date.parse(retryAfter) - nowMs) || 0;
}

export function parseWith<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof PlantStoreError ? error : unexpectedResponse((error as Error).message, error);
  }
}

export function unexpectedResponse(reason: string, cause?: unknown): PlantStoreError {
  return new PlantStoreError('unavailable', `The answer is not one of a plant store: ${reason}`, { cause });
}

/** Whatever the type says, an id is a number as it comes, unless it is a large one. */
export function withExactId<P extends { id: bigint }>(plant: P): P {
  return { ...plant, id: BigInt(plant.id) };
}

export function toVersioned(record: unknown, headers: Headers): Versioned {
  return { record: withExactId(record as PlantRecord), seq: seqOf(headers) };
}

export function toChange(change: Change): Change {
  return { ...change, plant: withExactId(change.plant) };
}

export function toImportResult(report: unknown, linesBefore: number): ImportResult {
  const { errors, ...counts } = report as Omit<ImportResult, 'errors'> & {
    errors: { line: number; error: number; message: string }[];
  };
  for (const name of ['created', 'replayed', 'failed'] as const) {
    if (!Number.isSafeInteger(counts[name])) throw unexpectedResponse(`its "${name}" is no number`);
  }
  return {
    ...counts,
    errors: errors.map(({ line, error, message }) => ({
      line: linesBefore + line,
      error: new PlantStoreError(codeOf(error), message),
    })),
  };
}

export function seqOf(headers: Headers): number {
  const seq = readEtag(headers);
  if (seq === undefined) throw unexpectedResponse('its ETag is missing');
  return seq;
}

/** A proxy that compresses makes it a weak one. */
function readEtag(headers: Headers): number | undefined {
  const digits = /^(?:W\/)?"(\d+)"$/.exec(headers.get('etag') ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}

export function nextCursor(headers: Headers, base: string): string | undefined {
  const target = /<([^>]*)>\s*;\s*rel="?next"?/.exec(headers.get('link') ?? '')?.[1];
  return target === undefined ? undefined : (new URL(target, base).searchParams.get('cursor') ?? undefined);
}

/** What Node says of ports that fetch never connects to, such as 1 and 6000. */
export const BAD_PORT = 'bad port';

/** Returns the codes of the failure, such as ECONNREFUSED, if the server did not respond. Returns undefined if it did. */
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
