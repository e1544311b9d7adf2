// The OpenAPI description, made from the routes and the schemas that validate.

import { z } from 'zod';
import { ERROR_NUMBERS, type ErrorCode } from '../../domain/errors.ts';
import { CHANGE_TYPES } from '../../domain/names.ts';
import { NewPlant } from '../../domain/plant.ts';
import { STATUS_CODES } from '../../lib/lean-http.ts';
import { ERROR_KINDS, ErrorBody, statusOf } from '../core/error-response.ts';
import type { Parameter } from '../core/parameters.ts';
import { type Access, type Route, type RouteResponse, route } from '../core/route.ts';

const DESCRIPTION = `A store of plant records.

Every error is an \`Error\`; its number is the HTTP status × 100 + n, and a number once given keeps its meaning.
A path that is not here answers 404, a method that a path does not have 405. Every answer carries \`X-Request-Id\`;
to a token that has a rate, \`RateLimit\` and \`RateLimit-Policy\`, too. Assistants speak MCP at \`/mcp\`, whose
tools describe themselves.`;

const ALWAYS: ErrorCode[] = [
  'malformed_request',
  'bad_parameter',
  'request_timeout',
  'headers_too_large',
  'bug',
  'unavailable',
];
const WITH_TOKEN: ErrorCode[] = ['no_credentials', 'bad_token', 'over_rate'];
const WITH_JSON: ErrorCode[] = ['not_json', 'not_valid', 'body_too_large'];
export const HEADERS_OF_STATUS: Record<number, Record<string, string>> = {
  401: { 'WWW-Authenticate': 'The challenge of RFC 6750' },
  403: { 'WWW-Authenticate': 'The challenge of RFC 6750, with the scopes that are needed' },
  405: { Allow: 'The methods that the path has' },
  412: { ETag: 'Of the record as it is now, where there is one' },
  415: { Accept: 'The media types that are taken', 'Accept-Encoding': 'Sent for a compressed body: none is taken' },
  429: { 'Retry-After': 'Seconds to wait' },
  503: { 'Retry-After': 'Seconds to wait' },
};

export const OF_A_RATE = {
  RateLimit:
    'To a token that has a rate: what is left, and the seconds until there is more (draft-ietf-httpapi-ratelimit-headers-11)',
  'RateLimit-Policy': 'To a token that has a rate: how many requests in how many seconds',
};

/** By the first part of the path: how pages and clients made from it group the operations. */
const TAGS: Record<string, { name: string; description: string }> = {
  plants: { name: 'Plants', description: 'Records of plants, one by one and as files' },
  events: { name: 'Changes', description: 'Every create, update and delete, numbered' },
  tokens: { name: 'Tokens', description: 'Who may use the service' },
  webhooks: { name: 'Receivers', description: 'Webhooks: who is told of changes' },
};
const OTHERS = { name: 'Operations', description: 'For those who run the service' };

/** The route that serves the description of all others and of itself. */
export function openapiRoute(others: Route[], basePath: string): Route {
  let printed: Buffer | undefined;
  const self: Route = route('GET /openapi.json', 'getDescription', 'open', {
    summary: 'Describe this interface (OpenAPI 3.1)',
    response: {
      description: 'The description',
      schema: z.looseObject({ openapi: z.string() }).meta({ id: 'Description' }),
    },
    handle({ reply }) {
      printed ??= Buffer.from(JSON.stringify(describe([...others, self], basePath)));
      reply.type('application/json; charset=utf-8');
      return printed; // the same bytes for everybody: who asks a thousand times and never reads takes no memory for it
    },
  });
  return self;
}

function describe(routes: Route[], basePath: string): unknown {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const entry of routes) {
    const path = entry.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [entry.method.toLowerCase()]: describeOperation(entry) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Plant Store',
      version: '1.0.0',
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: basePath || '/' }],
    security: [{ bearerAuth: [] }],
    tags: [...Object.values(TAGS), OTHERS],
    paths,
    webhooks: { '/plant/webhook': { post: describeWebhookMessage() } },
    components: {
      securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } },
      responses: describeErrors(),
      schemas: describeSchemas(routes),
    },
  };
}

function describeOperation(entry: Route): unknown {
  const { path, operationId, summary, description, access, parameters, body, response, errors = [] } = entry;
  const codes = [
    ...ALWAYS,
    ...(access === 'open' ? [] : WITH_TOKEN),
    ...(access === 'open' || access === 'any' ? [] : (['scope_missing'] as const)),
    ...(body?.schema ? WITH_JSON : []),
    ...(body ? (['media_type'] as const) : []),
    ...errors,
  ];
  return {
    operationId,
    tags: [tagOf(path)],
    summary,
    ...describeAccess(description, access),
    ...(access === 'open' && { security: [] }),
    ...(parameters && { parameters: Object.values(parameters).map(describeParameter) }),
    ...(body && { requestBody: { required: true, content: contentOf(body.types, body.schema) } }),
    responses: {
      [response.status ?? 200]: {
        description: response.description,
        headers: describeHeaders({ ...response.headers, ...(access !== 'open' && OF_A_RATE) }),
        ...((response.schema || response.streams) && { content: describeContent(response) }),
      },
      ...(response.notModified && {
        304: {
          description: 'It is as the client knows it',
          headers: describeHeaders({ ...response.headers, ...OF_A_RATE }),
        },
      }),
      ...Object.fromEntries(
        codes.map((code) => [statusOf(code), { $ref: `#/components/responses/${nameOf(statusOf(code))}` }]),
      ),
    },
  };
}

/** What the operation does, if its summary does not say it all, and the scopes that it needs. */
function describeAccess(description: string | undefined, access: Access): { description?: string } {
  if (access === 'open' || access === 'any') return description === undefined ? {} : { description };
  const scopes = [access].flat();
  const needed = `Needs the scope${scopes.length > 1 ? 's' : ''} ${scopes.map((scope) => `\`${scope}\``).join(' and ')}.`;
  return { description: description === undefined ? needed : `${description} ${needed}` };
}

/** What a receiver gets, as the published description has it, and what comes with it. */
function describeWebhookMessage(): unknown {
  const headers = {
    'webhook-id': 'The same however often this change is sent: by it a receiver knows what it has had before',
    'webhook-timestamp': 'Seconds since 1970 of this attempt',
    'webhook-signature':
      '`v1,` and HMAC-SHA256 of `id.timestamp.body` in base64 (Standard Webhooks 1.0); two, with a space between them, while a secret is replaced',
    'webhook-event': 'What has happened; `webhook.test` for a test. The signature does not cover it',
  };
  return {
    operationId: 'receiveChange',
    summary: 'Be told of a change',
    description:
      'Any 2xx within 15 s is delivered, 410 disables the webhook, all else is tried again for three days. Redirects are not followed.',
    security: [],
    parameters: Object.entries(headers).map(([name, description]) => ({
      in: 'header',
      name,
      description,
      required: true,
      schema: { type: 'string', ...(name === 'webhook-event' && { enum: [...CHANGE_TYPES, 'webhook.test'] }) },
    })),
    requestBody: { required: true, content: contentOf(['application/json'], NewPlant) },
    responses: { 200: { description: 'The receiver has it' } },
  };
}

function tagOf(path: string): string {
  return (TAGS[path.split('/')[1] ?? ''] ?? OTHERS).name;
}

function describeParameter({ in: place, name, description, schema }: Parameter<unknown>): unknown {
  return { in: place, name, description, ...(place === 'path' && { required: true }), schema };
}

function describeContent({ schema, streams = [] }: RouteResponse): unknown {
  return { ...(schema && contentOf(['application/json'], schema)), ...contentOf(streams) };
}

/** One response for each status, which lists the numbers that can come with it. */
function describeErrors(): unknown {
  const codesByStatus = Map.groupBy(Object.keys(ERROR_KINDS) as ErrorCode[], statusOf);
  return Object.fromEntries(
    [...codesByStatus].map(([status, codes]) => [
      nameOf(status),
      {
        description: codes.map((code) => `\`${ERROR_NUMBERS[code]}\` ${ERROR_KINDS[code].when}`).join('\n\n'),
        headers: describeHeaders({ 'Cache-Control': 'Always `no-store`', ...OF_A_RATE, ...HEADERS_OF_STATUS[status] }),
        content: contentOf(['application/json'], ErrorBody),
      },
    ]),
  );
}

function describeHeaders(headers: Record<string, string> = {}): unknown {
  const all = { 'X-Request-Id': "Names this request in the logs: the client's own, if it sent a sane one", ...headers };
  return Object.fromEntries(
    Object.entries(all).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );
}

function describeSchemas(routes: Route[]): unknown {
  const used = [ErrorBody, ...routes.flatMap(({ body, response }) => [body?.schema, response.schema])];
  const schemas = z.registry<{ id: string }>();
  for (const schema of used) if (schema) schemas.add(elementOf(schema), { id: idOf(elementOf(schema)) });
  const { schemas: described } = z.toJSONSchema(schemas, {
    io: 'input',
    unrepresentable: 'any',
    uri: (id) => `#/components/schemas/${id}`,
  });
  return Object.fromEntries(Object.entries(described).map(([id, { $schema, $id, ...schema }]) => [id, schema]));
}

/** Without a schema it is text. */
function contentOf(types: string[], schema?: z.ZodType): Record<string, unknown> {
  const described = schema ? referenceTo(schema) : { type: 'string' };
  return Object.fromEntries(types.map((type) => [type, { schema: described }]));
}

function referenceTo(schema: z.ZodType): unknown {
  const reference = { $ref: `#/components/schemas/${idOf(elementOf(schema))}` };
  return schema instanceof z.ZodArray ? { type: 'array', items: reference } : reference;
}

function elementOf(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodArray ? (schema.element as z.ZodType) : schema;
}

function idOf(schema: z.ZodType): string {
  const id = schema.meta()?.id;
  if (!id) throw new Error('A schema of the interface needs a name: .meta({ id })');
  return id;
}

function nameOf(status: number): string {
  return STATUS_CODES[status]?.replaceAll(' ', '') ?? String(status);
}
