// What a request says besides its body: parts of the path, of the query and of the headers → values, or a refusal
// that names the parameter. What nobody asked for is ignored.

import type { IncomingHttpHeaders } from 'node:http';
import { PlantStoreError } from '../../domain/errors.ts';
import { MAX_QUERY_CHARS, MAX_QUERY_WORDS } from '../../domain/name-search.ts';
import { DELIVERY_STATUSES } from '../../domain/names.ts';
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

const TEXT = { type: 'string' };
const INT64 = { type: 'integer', format: 'int64' };
/** Of a change. No log gets so long that a number needs more. */
const SEQ = { ...INT64, minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
/** Those of a header, as RFC 9110 §13.1 writes them. */
const ETAGS = { type: 'string', pattern: '^(\\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$' };

export const id = parameter('path', 'id', 'Identification number of the plant', INT64, (text) => {
  const value = /^(0|-?[1-9]\d{0,18})$/.test(text) ? BigInt(text) : undefined;
  if (value !== undefined && value >= MIN_ID && value <= MAX_ID) return value;
  throw malformed('The id in the path', `an integer between ${MIN_ID} and ${MAX_ID}`);
});
export const webhookId = idWith('whk', 'webhook');
export const tokenId = idWith('tok', 'token');

const LIMIT = { type: 'integer', format: 'int32', minimum: 1, default: DEFAULT_LIMIT };
const MOST = `How many at most; over ${MAX_LIMIT} counts as ${MAX_LIMIT}`;
export const limit = parameter('query', 'limit', MOST, LIMIT, (text) => {
  if (/^0*[1-9]\d*$/.test(text)) return Math.min(Number(text), MAX_LIMIT);
  throw malformed('"limit"', 'a whole number of at least 1');
});

const CURSOR = 'Where the page begins: from the `Link` of the page before';
export const cursor = parameter('query', 'cursor', CURSOR, TEXT, asItIs);
export const tag = parameter('query', 'tag', 'Only plants with exactly this tag', TEXT, asItIs);
const WORDS = `Words, each of which must begin a word of the name, whatever its case and accents: \`mon del\` finds *Monstera deliciosa*. Without a word in it, it finds all. At most ${MAX_QUERY_CHARS} characters and ${MAX_QUERY_WORDS} words`;
export const q = parameter('query', 'q', WORDS, { ...TEXT, maxLength: MAX_QUERY_CHARS }, asItIs);

const AFTER = 'Number of the last change that is known; without it the oldest there is comes first';
export const after = parameter('query', 'after', AFTER, SEQ, seqIn('"after"'));
const LAST_ID = 'For an event stream: the last `id` that was received. Counts before `after`';
export const lastEventId = parameter('header', 'Last-Event-ID', LAST_ID, SEQ, seqIn('Last-Event-ID'));
const PATH_SEQ = { ...SEQ, minimum: 1 };
export const seq = parameter('path', 'seq', 'Number of the change', PATH_SEQ, seqIn('The number in the path'));
export const before = parameter('query', 'before', 'Only those with a smaller number', SEQ, seqIn('"before"'));

const IF_MATCH = 'Only if the record has one of these ETags; `*` is any';
export const ifMatch = parameter('header', 'If-Match', IF_MATCH, ETAGS, versionsIn('If-Match', false));
const IF_NONE = 'Only if the record has none of these ETags; `*` is any';
export const ifNoneMatch = parameter('header', 'If-None-Match', IF_NONE, ETAGS, versionsIn('If-None-Match', true));

const GRACE = 'For how long the old secret is still taken: 30s, 30m, 12h, 7d or 4w, 100 years at most; 0 ends it now';
const SPAN = { type: 'string', pattern: '^(0|[1-9][0-9]{0,8}[smhdw])$', default: '24h' };
export const grace = parameter('query', 'grace', GRACE, SPAN, (text) => {
  const durationMs = text === '0' ? 0 : parseDuration(text);
  if (durationMs !== undefined) return durationMs;
  throw malformed('"grace"', `0, or ${DURATION_FORM}`);
});

const STATUS = { type: 'string', enum: [...DELIVERY_STATUSES] };
export const deliveryStatus = parameter('query', 'status', 'Only those with this status', STATUS, (text) => {
  const known = DELIVERY_STATUSES.find((status) => status === text);
  if (known) return known;
  throw malformed('"status"', `one of ${DELIVERY_STATUSES.join(', ')}`);
});

function parameter<T, In extends Parameter<T>['in']>(
  place: In,
  name: string,
  description: string,
  schema: Parameter<T>['schema'],
  read: (text: string) => T,
): Parameter<T> & { in: In } {
  return { in: place, name, description, schema, read };
}

function asItIs(text: string): string {
  return text;
}

/** Id of something other than a plant. A malformed one is not echoed: it may be a secret. */
function idWith(prefix: string, what: string) {
  const pattern = `^${prefix}_[0-9A-Za-z]{1,40}$`;
  return parameter('path', 'id', `Id of the ${what}`, { type: 'string', pattern }, (text) => {
    if (new RegExp(pattern).test(text)) return text;
    throw malformed('The id in the path', `that of a ${what}: ${prefix}_…`);
  });
}

export function readParameters(
  wanted: Record<string, Parameter<unknown>>,
  { url, headers, params }: { url: string; headers: IncomingHttpHeaders; params: Record<string, string> },
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
    if (place === 'path') return params[name];
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

function versionsIn(what: string, weakToo: boolean): (text: string) => Versions {
  return (text) => {
    const versions = readEtags(text, weakToo);
    if (versions) return versions;
    throw malformed(what, '"*", or ETags in their quotation marks with commas between them');
  };
}

function seqIn(what: string): (text: string) => number {
  return (text) => {
    const seq = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isSafeInteger(seq)) return seq;
    throw malformed(what, 'the number of a change');
  };
}

function malformed(what: string, wanted: string): PlantStoreError {
  return new PlantStoreError('bad_parameter', `${what} must be ${wanted}`);
}
