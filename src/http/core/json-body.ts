// Checks and parses the JSON body of a request by the route's schema.

import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { MIMEType } from 'node:util';
import type { z } from 'zod';
import { PlantStoreError } from '../../domain/errors.ts';
import { readJson, validate } from '../../domain/validate.ts';

export const MAX_BODY_BYTES = 64 * 1024;
/** Maximum length of a media type. Node parses it in quadratic time: 16 KiB of spaces take 0.4 s. */
const MAX_TYPE_CHARS = 256;

/** The body that a route accepts. */
export interface RequestBody<Body> {
  description: string;
  /** Accepted media types. */
  types: string[];
  /** Schema of a JSON body. Without it, the handler streams the body, which can have any length. */
  schema?: z.ZodType<Body>;
}

/** Returns a JSON body, described by its schema. */
export function jsonBody<Body>(schema: z.ZodType<Body>, ...otherTypes: string[]): RequestBody<Body> {
  const { description = '' } = schema.meta() ?? {};
  return { description, types: ['application/json', ...otherTypes], schema };
}

/** Checks only the headers, so that the server can reject a body before the client sends it. */
export function requireWanted(headers: IncomingHttpHeaders, { types, schema }: RequestBody<unknown>): void {
  if (headers['content-encoding'] !== undefined) {
    throw new PlantStoreError('media_type', 'The body must not be compressed. Omit Content-Encoding.', {
      detail: { acceptEncoding: 'identity' },
    });
  }
  if (schema && Number(headers['content-length']) > MAX_BODY_BYTES) {
    throw bodyTooLarge();
  }
  if (!types.includes(essenceOf(headers))) {
    throw new PlantStoreError('media_type', `Content-Type must be ${types.join(' or ')}, in UTF-8`, {
      detail: { accept: types.join(', ') },
    });
  }
}

export function bodyTooLarge(): PlantStoreError {
  return new PlantStoreError('body_too_large', `The body is larger than ${MAX_BODY_BYTES} bytes`);
}

/** True if the body is of unknown length, or too long to read only to discard it. */
export function hasLongBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > MAX_BODY_BYTES;
}

export function readBody<Body>(schema: z.ZodType<Body>, bytes: Buffer): Body {
  if (bytes.length === 0) throw new PlantStoreError('not_json', 'The body is empty');
  if (!isUtf8(bytes)) throw new PlantStoreError('not_json', 'The body is not UTF-8');
  return validate(schema, readJson(bytes.toString('utf8'), 'The body'), 'The body');
}

/** Returns the media type of the body without its parameters. Empty if it is malformed or has another charset. */
export function essenceOf({ 'content-type': text = '' }: IncomingHttpHeaders): string {
  if (text === 'application/json') return text; // the most common form
  if (text.length > MAX_TYPE_CHARS) return '';
  try {
    const { essence, params } = new MIMEType(text);
    return (params.get('charset') ?? 'utf-8').toLowerCase() === 'utf-8' ? essence : '';
  } catch {
    return '';
  }
}
