// Bytes of a request's body → a value that fits the route's schema, or the refusal that says why not.

import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { MIMEType } from 'node:util';
import type { z } from 'zod';
import { PlantStoreError } from '../error.ts';
import { parseJson } from '../json.ts';

export const MAX_BODY_BYTES = 64 * 1024;

/** Looks at the headers alone, so that a body nobody will read is refused before it is sent. */
export function requireJson(headers: IncomingHttpHeaders): void {
  if (headers['content-encoding'] !== undefined) {
    throw new PlantStoreError('media_type', 'The body must not be compressed: leave Content-Encoding out', {
      detail: { acceptEncoding: 'identity' },
    });
  }
  if (Number(headers['content-length']) > MAX_BODY_BYTES) {
    throw bodyTooLarge();
  }
  if (!isJsonType(headers['content-type'] ?? '')) {
    throw new PlantStoreError('media_type', 'Content-Type must be application/json, in UTF-8', {
      detail: { accept: 'application/json' },
    });
  }
}

export function bodyTooLarge(): PlantStoreError {
  return new PlantStoreError('body_too_large', `The body is over ${MAX_BODY_BYTES} bytes`);
}

/** Longer than what is worth reading only to throw it away, or of unknown length. */
export function hasLongBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > MAX_BODY_BYTES;
}

export function readBody<Body>(schema: z.ZodType<Body>, bytes: Buffer): Body {
  const parsed = schema.safeParse(readJson(bytes));
  if (parsed.success) return parsed.data;
  const findings = parsed.error.issues.map(
    ({ path, message }) => `${path.length ? `"${path.join('.')}"` : 'The body'} ${message}`,
  );
  throw new PlantStoreError('not_valid', findings.join('; '));
}

function isJsonType(text: string): boolean {
  if (text === 'application/json') return true; // as nearly everybody sends it
  try {
    const { essence, params } = new MIMEType(text);
    return essence === 'application/json' && (params.get('charset') ?? 'utf-8').toLowerCase() === 'utf-8';
  } catch {
    return false;
  }
}

function readJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw notJson('is empty');
  if (!isUtf8(bytes)) throw notJson('is not UTF-8');
  const text = bytes.toString('utf8');
  if (text.startsWith('\uFEFF')) throw notJson('begins with a byte order mark');
  try {
    return parseJson(text);
  } catch (error) {
    throw notJson(`cannot be read as JSON: ${(error as SyntaxError).message.toWellFormed()}`);
  }
}

function notJson(finding: string): PlantStoreError {
  return new PlantStoreError('not_json', `The body ${finding}`);
}
