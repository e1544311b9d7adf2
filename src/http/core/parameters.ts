// What a request says besides its body: parts of the path, of the query and of the headers → values, or a refusal
// that names the parameter. What nobody asked for is ignored.

import type { IncomingHttpHeaders } from 'node:http';
import { PlantStoreError } from '../../domain/errors.ts';
import { MAX_QUERY_CHARS, MAX_QUERY_WORDS } from '../../domain/name-search.ts';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../../domain/names.ts';
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../domain/page-size.ts';
import { MAX_ID, MIN_ID } from '../../domain/plant.ts';
import type { Versions } from '../../domain/precondition.ts';
import { DURATION_FORM, parseDuration } from '../../lib/duration.ts';
import { readEtags } from './etag.ts';

export interface Parameter<T> {
  in: 'path' | 'query' | 'header';
  name: string;
  description: string;
  /** For the OpenAPI description. */
  schema: Record<string, unknown>;
  read(text: string): T;
}

const INT64 = { type: 'integer', format: 'int64' };
/** Of a change. No log gets so long that a number needs more. */
const SEQ = { ...INT64, minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
/** Those of a header, as RFC 9110 §13.1 writes them. */
const ETAGS = { type: 'string', pattern: '^(\\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$' };

export const id = {
  in: 'path',
  name: 'id',
  description: 'Identification number of the plant',
  schema: INT64,
  read(text: string): bigint {
    const value = /^(0|-?[1-9]\d{0,18})$/.test(text) ? BigInt(text) : undefined;
    if (value !== undefined && value >= MIN_ID && value <= MAX_ID) return value;
    throw malformed('The id in the path', `an integer between ${MIN_ID} and ${MAX_ID}`);
  },
} as const;

export const limit = {
  in: 'query',
  name: 'limit',
  description: `How many at most; over ${MAX_LIMIT} counts as ${MAX_LIMIT}`,
  schema: { type: 'integer', format: 'int32', minimum: 1, default: DEFAULT_LIMIT },
  read(text: string): number {
    if (/^0*[1-9]\d*$/.test(text)) return Math.min(Number(text), MAX_LIMIT);
    throw malformed('"limit"', 'a whole number of at least 1');
  },
} as const;

export const cursor = textParameter('cursor', 'Where the page begins: from the `Link` of the page before');
export const tag = textParameter('tag', 'Only plants with exactly this tag');
export const q = textParameter(
  'q',
  `Words, each of which must begin a word of the name, whatever its case and accents: \`mon del\` finds *Monstera deliciosa*. Without a word in it, it finds all. At most ${MAX_QUERY_CHARS} characters and ${MAX_QUERY_WORDS} words`,
  { maxLength: MAX_QUERY_CHARS },
);

export const after = {
  in: 'query',
  name: 'after',
  description: 'Number of the last change that is known; without it the oldest there is comes first',
  schema: SEQ,
  read: (text: string): number => readSeq('"after"', text),
} as const;

export const lastEventId = {
  in: 'header',
  name: 'Last-Event-ID',
  description: 'For an event stream: the last `id` that was received. Counts before `after`',
  schema: SEQ,
  read: (text: string): number => readSeq('Last-Event-ID', text),
} as const;

export const ifMatch = {
  in: 'header',
  name: 'If-Match',
  description: 'Only if the record has one of these ETags; `*` is any',
  schema: ETAGS,
  read: (text: string): Versions => versionsOf('If-Match', text, false),
} as const;

export const ifNoneMatch = {
  in: 'header',
  name: 'If-None-Match',
  description: 'Only if the record has none of these ETags; `*` is any',
  schema: ETAGS,
  read: (text: string): Versions => versionsOf('If-None-Match', text, true),
} as const;

export const webhookId = idWith('whk', 'webhook');
export const tokenId = idWith('tok', 'token');

export const grace = {
  in: 'query',
  name: 'grace',
  description: 'For how long the old secret is still taken: 30s, 30m, 12h, 7d or 4w, 100 years at most; 0 ends it now',
  schema: { type: 'string', pattern: '^(0|[1-9][0-9]{0,8}[smhdw])$', default: '24h' },
  read(text: string): number {
    const durationMs = text === '0' ? 0 : parseDuration(text);
    if (durationMs !== undefined) return durationMs;
    throw malformed('"grace"', `0, or ${DURATION_FORM}`);
  },
} as const;

export const seq = {
  in: 'path',
  name: 'seq',
  description: 'Number of the change',
  schema: { ...SEQ, minimum: 1 },
  read: (text: string): number => readSeq('The number in the path', text),
} as const;

export const before = {
  in: 'query',
  name: 'before',
  description: 'Only those with a smaller number',
  schema: SEQ,
  read: (text: string): number => readSeq('"before"', text),
} as const;

export const deliveryStatus = {
  in: 'query',
  name: 'status',
  description: 'Only those with this status',
  schema: { type: 'string', enum: [...DELIVERY_STATUSES] },
  read(text: string): DeliveryStatus {
    const known = DELIVERY_STATUSES.find((status) => status === text);
    if (known) return known;
    throw malformed('"status"', `one of ${DELIVERY_STATUSES.join(', ')}`);
  },
} as const;

/** Not that of a plant. What is wrong is not echoed: it may be a secret. */
function idWith(prefix: string, what: string) {
  return {
    in: 'path',
    name: 'id',
    description: `Id of the ${what}`,
    schema: { type: 'string', pattern: `^${prefix}_[0-9A-Za-z]{1,40}$` },
    read(text: string): string {
      if (new RegExp(`^${prefix}_[0-9A-Za-z]{1,40}$`).test(text)) return text;
      throw malformed('The id in the path', `that of a ${what}: ${prefix}_…`);
    },
  } as const;
}

interface Sent {
  url: string;
  headers: IncomingHttpHeaders;
  params: unknown;
}

export function readParameters(
  wanted: Record<string, Parameter<unknown>>,
  { url, headers, params }: Sent,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const queryAt = url.indexOf('?');
  const query = queryAt === -1 ? [] : url.slice(queryAt + 1).split('&');
  for (const key in wanted) {
    const parameter = wanted[key] as Parameter<unknown>;
    const text = find(parameter);
    if (text !== undefined) values[key] = parameter.read(text);
  }
  return values;

  function find({ in: place, name }: Parameter<unknown>): string | undefined {
    if (place === 'path') return (params as Record<string, string>)[name];
    if (place === 'header') return headers[name.toLowerCase()] as string | undefined;
    const found = query.filter((pair) => pair.startsWith(`${name}=`) || pair === name);
    if (found.length > 1) throw new PlantStoreError('bad_parameter', `"${name}" may be given once only`);
    return found[0] === undefined ? undefined : decode(name, found[0].slice(name.length + 1));
  }
}

function decode(name: string, text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw malformed(`"${name}"`, 'UTF-8 with percent signs');
  }
}

function textParameter(name: string, description: string, bounds: { maxLength?: number } = {}) {
  const schema = { type: 'string', ...bounds };
  return { in: 'query', name, description, schema, read: (text: string) => text } as const;
}

function versionsOf(what: string, text: string, weakToo: boolean): Versions {
  const versions = readEtags(text, weakToo);
  if (versions) return versions;
  throw malformed(what, '"*", or ETags in their quotation marks with commas between them');
}

function readSeq(what: string, text: string): number {
  const seq = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(seq)) return seq;
  throw malformed(what, 'the number of a change');
}

function malformed(what: string, wanted: string): PlantStoreError {
  return new PlantStoreError('bad_parameter', `${what} must be ${wanted}`);
}
