// Reads the parameters of a request from its path, query and headers. An error names the malformed parameter. Unknown
// parameters are ignored.

import type { IncomingHttpHeaders } from 'node:http';
import { PlantStoreError } from '../../domain/errors.ts';
import { MAX_SORTED, MAX_WANTED_TAGS } from '../../domain/list-order.ts';
import { MAX_KEY_CHARS, MAX_QUERY_CHARS, MAX_QUERY_WORDS } from '../../domain/name-search.ts';
import { CHANGE_ORDERS, CHANGE_TYPES, DEFAULT_GRACE, DELIVERY_STATUSES, SORTS } from '../../domain/names.ts';
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../domain/page-size.ts';
import { MAX_ID, MIN_ID } from '../../domain/plant.ts';
import type { Versions } from '../../domain/precondition.ts';
import { FIRST_TIME_MS, isTime } from '../../domain/time.ts';
import { DURATION_FORM, DURATION_PATTERN, parseDuration } from '../../lib/duration.ts';
import { readEtags } from './etag.ts';

export interface Parameter<T> {
  in: 'path' | 'query' | 'header';
  name: string;
  /** The name by which Node has a header, in lower case, or the name itself. */
  field: string;
  description: string;
  /** The schema in the OpenAPI description, with at least one example. */
  schema: Record<string, unknown> & { examples?: unknown[] };
  /** Maximum number of values, if the parameter can be repeated. `read` then returns a list, and all lists are joined. */
  maxValues?: number;
  read(text: string): T;
}

const TEXT = { type: 'string' };
const INT64 = { type: 'integer', format: 'int64' };
const ID_TEXT =
  'Identification number of the plant: an integer of 64 bits. In JavaScript and other languages with 53-bit numbers, send larger ids as exact digits.';
/** The number of a change. No change log reaches larger numbers. */
const SEQ = { ...INT64, minimum: 0, maximum: Number.MAX_SAFE_INTEGER, examples: [1042] };
/** A list of ETags in a header (RFC 9110 §13.1). The pattern has no quotation mark, which breaks generated clients. */
const ETAG_ELEMENT = '[ \\t]*((W/)?\\x22[!#-~]*\\x22[ \\t]*)?';
const ETAGS = {
  type: 'string',
  pattern: `^([ \\t]*\\*[ \\t]*|${ETAG_ELEMENT}(,${ETAG_ELEMENT})*)$`,
  examples: ['"1042"'],
};

export const id = parameter('path', 'id', ID_TEXT, { ...INT64, examples: [7] }, (text) => {
  const value = /^(0|-?[1-9]\d{0,18})$/.test(text) ? BigInt(text) : undefined;
  if (value !== undefined && value >= MIN_ID && value <= MAX_ID) return value;
  throw malformed('The id in the path', `an integer between ${MIN_ID} and ${MAX_ID}`);
});
export const webhookId = idWith('whk', 'webhook');
export const tokenId = idWith('tok', 'token');

const LIMIT = { type: 'integer', format: 'int32', minimum: 1, default: DEFAULT_LIMIT, examples: [DEFAULT_LIMIT] };
const MOST = `Maximum number of items to return. A value above ${MAX_LIMIT} counts as ${MAX_LIMIT}.`;
export const limit = parameter('query', 'limit', MOST, LIMIT, (text) => {
  if (/^0*[1-9]\d*$/.test(text)) return Math.min(Number(text), MAX_LIMIT);
  throw malformed('"limit"', 'an integer of at least 1');
});

const CURSOR = 'Cursor of the page, from the `Link` header of the previous page. Omit it for the first page.';
export const cursor = parameter('query', 'cursor', CURSOR, { ...TEXT, examples: ['eyJpZCI6MTA3fQ'] }, unchanged);
const OFFSET =
  'Number of plants to skip, in the order of `sort` and with the filters, to jump to any row of a list. Beyond the last plant, the list is empty. ' +
  'Without `cursor` only: the `Link` header continues with a cursor. If a plant is created or deleted between two requests, the rows after it shift by one.';
const COUNT = { ...INT64, minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0, examples: [500_000] };
export const offset = parameter('query', 'offset', OFFSET, COUNT, (text) => {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value)) return value;
  throw malformed('"offset"', `an integer between 0 and ${Number.MAX_SAFE_INTEGER}`);
});
const TAG = `Return only plants whose tag equals this text exactly. Repeat it, up to ${MAX_WANTED_TAGS} times, for plants with any of several tags. \`tag[]\` means the same.`;
export const tag = {
  ...parameter(
    'query',
    'tag',
    TAG,
    { type: 'array', items: TEXT, maxItems: MAX_WANTED_TAGS, examples: [['tropical', 'shrub']] },
    (text) => [text],
  ),
  maxValues: MAX_WANTED_TAGS,
};
const UNTAGGED = 'With `true`, also return plants without a tag. Without `tag`, return only those.';
export const untagged = flag('untagged', UNTAGGED);
export const count = flag('count', 'With `true`, the response has the header `Total-Count`.');
const SORT = `Order of the plants. A leading \`-\` reverses it. Names are sorted by their first ${MAX_KEY_CHARS} characters without case and accents. Plants with the same name or time are sorted by id. With \`tag\`, \`untagged\` or \`q\`, a sort other than \`id\` is limited to ${MAX_SORTED} matches.`;
export const sort = oneOf('sort', SORT, SORTS, 'id');
const WORDS = `Search words. Each must be the beginning of a word in the name. Case and accents are ignored: \`mon del\` finds *Monstera deliciosa*. A text of blanks matches all plants; any other text without a letter or digit matches none. At most ${MAX_QUERY_CHARS} characters and ${MAX_QUERY_WORDS} words.`;
export const q = parameter(
  'query',
  'q',
  WORDS,
  { ...TEXT, maxLength: MAX_QUERY_CHARS, examples: ['mon del'] },
  unchanged,
);

const AFTER = 'Return only changes after this number. Without it, the response starts with the oldest stored change.';
export const after = parameter('query', 'after', AFTER, SEQ, seqIn('"after"'));
const LAST_ID = 'For an event stream: the last `id` that the client received. It takes precedence over `after`.';
/** A text, because clients generated by some tools cannot send a number in a header. */
const SEQ_TEXT = { type: 'string', pattern: '^[0-9]{1,16}$', examples: ['1042'] };
export const lastEventId = parameter('header', 'Last-Event-ID', LAST_ID, SEQ_TEXT, seqIn('Last-Event-ID'));
const PATH_SEQ = { ...SEQ, minimum: 1 };
export const seq = parameter('path', 'seq', 'Number of the change', PATH_SEQ, seqIn('The number in the path'));
export const before = parameter(
  'query',
  'before',
  'Return only changes, or deliveries of changes, with a smaller number',
  SEQ,
  seqIn('"before"'),
);
const ORDER = 'Order of the changes: `asc` starts with the oldest, `desc` with the newest.';
export const order = oneOf('order', ORDER, CHANGE_ORDERS, 'asc');
export const changeType = oneOf('type', 'Return only changes of this type', CHANGE_TYPES);
const TOKEN = 'Return only changes made with this token: its id, `cli`, or `jwt:` and the subject of a JWT.';
export const changeToken = parameter('query', 'token', TOKEN, { ...TEXT, examples: ['tok_I46W9MwWENQq'] }, unchanged);
export const since = timeParameter('since', 'Return only changes at or after this time (RFC 3339)');
export const until = timeParameter('until', 'Return only changes at or before this time (RFC 3339)');

export const dryRun = flag(
  'dryRun',
  'With `true`, check the whole file and compare it with the store, but store nothing.',
);

const IF_MATCH =
  'Process the request only if the record has one of these ETags, in their strong or weak form. `*` matches any existing record.';
export const ifMatch = parameter('header', 'If-Match', IF_MATCH, ETAGS, versionsIn('If-Match'));
const IF_NONE = 'Process the request only if the record has none of these ETags. `*` matches any existing record.';
export const ifNoneMatch = parameter('header', 'If-None-Match', IF_NONE, ETAGS, versionsIn('If-None-Match'));

const GRACE =
  'Time for which the old secret is still accepted, such as `30s`, `30m`, `12h`, `7d` or `4w`. At most 100 years. `0` revokes the old secret immediately.';
const SPAN = { type: 'string', pattern: `^(0|${DURATION_PATTERN})$`, default: DEFAULT_GRACE, examples: ['24h'] };
export const grace = parameter('query', 'grace', GRACE, SPAN, (text) => {
  if (text === '0' || parseDuration(text) !== undefined) return text;
  throw malformed('"grace"', `0, or ${DURATION_FORM}`);
});

export const deliveryStatus = oneOf('status', 'Return only deliveries with this status', DELIVERY_STATUSES);

function flag(name: string, description: string) {
  return parameter('query', name, description, { type: 'boolean', default: false, examples: [true] }, (text) => {
    if (text === 'true' || text === 'false') return text === 'true';
    throw malformed(`"${name}"`, 'true or false');
  });
}

function oneOf<Value extends string>(
  name: string,
  description: string,
  values: readonly Value[],
  defaultValue?: NoInfer<Value>,
) {
  const schema = {
    type: 'string',
    enum: [...values],
    ...(defaultValue && { default: defaultValue }),
    examples: [values.at(-1)],
  };
  return parameter('query', name, description, schema, (text) => {
    const known = values.find((value) => value === text);
    if (known) return known;
    throw malformed(`"${name}"`, `one of ${values.join(', ')}`);
  });
}

/** A time in RFC 3339, as milliseconds since 1970. A plus sign that was not percent-encoded arrives as a space. */
function timeParameter(name: string, description: string) {
  return parameter(
    'query',
    name,
    description,
    { type: 'string', format: 'date-time', examples: ['2026-11-17T12:00:00Z'] },
    (text) => {
      const time = text.toUpperCase().replace(' ', '+');
      const timeMs = isTime(time) ? Date.parse(time) : Number.NaN;
      if (timeMs >= FIRST_TIME_MS) return timeMs;
      throw malformed(`"${name}"`, 'a time in RFC 3339, such as 2026-11-17T12:00:00Z');
    },
  );
}

function parameter<T, In extends Parameter<T>['in']>(
  place: In,
  name: string,
  description: string,
  schema: Parameter<T>['schema'],
  read: (text: string) => T,
): Parameter<T> & { in: In } {
  return { in: place, name, field: place === 'header' ? name.toLowerCase() : name, description, schema, read };
}

function unchanged(text: string): string {
  return text;
}

/**
 * Returns the parameter for the id of a token or webhook. The error does not repeat a malformed id, which may be a
 * secret.
 */
function idWith(prefix: string, what: string) {
  const pattern = `^${prefix}_[0-9A-Za-z]{1,40}$`;
  return parameter(
    'path',
    'id',
    `Id of the ${what}`,
    { type: 'string', pattern, examples: [`${prefix}_I46W9MwWENQq`] },
    (text) => {
      if (new RegExp(pattern).test(text)) return text;
      throw malformed('The id in the path', `the id of a ${what}, such as ${prefix}_…`);
    },
  );
}

export function readParameters(
  wanted: Record<string, Parameter<unknown>>,
  { url, headers, params }: { url: string; headers: IncomingHttpHeaders; params: Record<string, string> },
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const query = readQuery(url);
  for (const key in wanted) {
    const parameter = wanted[key] as Parameter<unknown>;
    const texts = parameter.in === 'query' ? findInQuery(query, parameter) : textsOf(parameter);
    const [first] = texts;
    if (first === undefined) continue;
    values[key] = parameter.maxValues ? texts.flatMap((text) => parameter.read(text)) : parameter.read(first);
  }
  return values;

  function textsOf({ in: place, field }: Parameter<unknown>): string[] {
    const text = place === 'path' ? params[field] : headers[field];
    return typeof text === 'string' ? [text] : [];
  }
}

interface QueryPair {
  name: string;
  value: string;
}

function readQuery(url: string): QueryPair[] {
  const queryAt = url.indexOf('?');
  if (queryAt === -1) return [];
  const pairs = url.slice(queryAt + 1).split('&');
  return pairs.map((pair) => {
    const [name = ''] = pair.split('=', 1);
    return { name, value: pair.slice(name.length + 1) };
  });
}

function findInQuery(query: QueryPair[], { name, maxValues = 1 }: Parameter<unknown>): string[] {
  // Axios and others append brackets to the name of a list.
  const names = maxValues === 1 ? [name] : [name, `${name}[]`, `${name}%5B%5D`];
  const found = query.filter((pair) => names.includes(pair.name));
  if (found.length > maxValues) {
    const most = maxValues === 1 ? 'must not be repeated' : `must not be repeated more than ${maxValues} times`;
    throw new PlantStoreError('bad_parameter', `"${name}" ${most}`);
  }
  return found.map(({ value }) => decode(name, value));
}

function decode(name: string, text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw malformed(`"${name}"`, 'percent-encoded UTF-8');
  }
}

function versionsIn(what: string): (text: string) => Versions {
  return (text) => {
    const versions = readEtags(text);
    if (versions) return versions;
    throw malformed(what, '"*" or a list of quoted ETags, separated by commas');
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
