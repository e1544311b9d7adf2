// Generates the OpenAPI description from the routes and from the schemas that validate requests.

import { z } from 'zod';
import { ERROR_NUMBERS, type ErrorCode } from '../../domain/errors.ts';
import { CHANGE_TYPES } from '../../domain/names.ts';
import { NewPlant } from '../../domain/plant.ts';
import { STATUS_CODES } from '../../lib/lean-http.ts';
import { ERROR_KINDS, ErrorBody, statusOf } from '../core/error-response.ts';
import type { Parameter } from '../core/parameters.ts';
import { type Access, type Route, type RouteResponse, route } from '../core/route.ts';
import { JSON_TYPE } from '../core/send-reply.ts';

const DESCRIPTION = `Plant Store is a store of plant records with an HTTP API.

Every failed request returns an \`Error\`. Its number is the HTTP status × 100 + n, and a published number never changes
its meaning. An unknown path returns 404. An unsupported method returns 405.

Every response has the header \`X-Request-Id\`. Responses to a token with a rate also have \`RateLimit\` and
\`RateLimit-Policy\`.

Assistants can use the Model Context Protocol (MCP) at \`/mcp\`, which lists its own tools.`;

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
  401: { 'WWW-Authenticate': 'The challenge (RFC 6750)' },
  403: { 'WWW-Authenticate': 'The challenge (RFC 6750), with the required scopes' },
  405: { Allow: 'The methods that the path supports' },
  412: { ETag: 'ETag of the current record, if it exists' },
  415: { Accept: 'The accepted media types', 'Accept-Encoding': '`identity`, if the request body was compressed' },
  429: { 'Retry-After': 'Seconds to wait before a retry' },
  503: { 'Retry-After': 'Seconds to wait before a retry' },
};

export const RATE_HEADERS = {
  RateLimit:
    'For a token with a rate (`"token"`), or after too many invalid tokens (`"logins"`): the remaining requests, and the seconds until more are available (draft-ietf-httpapi-ratelimit-headers-11)',
  'RateLimit-Policy': 'For a token with a rate: the number of requests and the period in seconds',
};

/** Tags by the first segment of the path, which group the operations in documentation and generated clients. */
const TAGS: Record<string, { name: string; description: string }> = {
  plants: { name: 'Plants', description: 'Create, read, change, delete, import and export plants' },
  events: { name: 'Changes', description: 'Read or follow the change log' },
  tokens: { name: 'Tokens', description: 'Manage the tokens that authenticate clients' },
  webhooks: { name: 'Receivers', description: 'Manage webhooks, which send changes to receivers' },
};
const OTHERS = { name: 'Operations', description: 'Check and monitor the service' };

/** Returns the route that serves the description of all routes, including itself. */
export function openapiRoute(others: Route[], basePath: string): Route {
  let printed: Buffer | undefined;
  const self: Route = route('GET /openapi.json', 'getDescription', 'open', {
    summary: 'Get the OpenAPI description',
    description: 'Returns this description in OpenAPI 3.1.',
    response: {
      description: 'The OpenAPI description',
      schema: z.looseObject({ openapi: z.string() }).meta({ id: 'Description' }),
    },
    handle({ reply }) {
      printed ??= Buffer.from(JSON.stringify(describe([...others, self], basePath)));
      reply.type(JSON_TYPE);
      return printed; // shared by all responses, so that clients that do not read their responses use no extra memory
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
        headers: describeHeaders({ ...response.headers, ...(access !== 'open' && RATE_HEADERS) }),
        ...((response.schema || response.streams) && { content: describeContent(response) }),
      },
      ...(response.notModified && {
        304: {
          description: 'The record has not changed',
          headers: describeHeaders({ ...response.headers, ...RATE_HEADERS }),
        },
      }),
      ...Object.fromEntries(
        codes.map((code) => [statusOf(code), { $ref: `#/components/responses/${nameOf(statusOf(code))}` }]),
      ),
    },
  };
}

/** Returns the description of an operation, with its required scopes. */
function describeAccess(description: string | undefined, access: Access): { description?: string } {
  if (access === 'open' || access === 'any') return description === undefined ? {} : { description };
  const scopes = [access].flat();
  const needed = `Requires the scope${scopes.length > 1 ? 's' : ''} ${scopes.map((scope) => `\`${scope}\``).join(' and ')}.`;
  return { description: description === undefined ? needed : `${description} ${needed}` };
}

/** Describes the message that a receiver gets: the published body, and the headers of this service. */
function describeWebhookMessage(): unknown {
  const headers = {
    'webhook-id': 'Id of the message. It is the same for every attempt, so receivers can detect duplicates.',
    'webhook-timestamp': 'Time of this attempt, in seconds since 1970',
    'webhook-signature':
      '`v1,` followed by the HMAC-SHA256 of `id.timestamp.body` in base64 (Standard Webhooks 1.0). During a rotation it holds two signatures, separated by a space.',
    'webhook-event': 'Type of the change, or `webhook.test` for a test. The signature does not cover it.',
  };
  return {
    operationId: 'receiveChange',
    summary: 'Receive a change',
    description:
      'The server sends this request to the URL of a webhook. A 2xx status within 15 s marks the change as delivered. ' +
      'Status 410 disables the webhook. After any other result, the server retries for three days. ' +
      'The server does not follow redirects.',
    security: [],
    parameters: Object.entries(headers).map(([name, description]) => ({
      in: 'header',
      name,
      description,
      required: true,
      schema: { type: 'string', ...(name === 'webhook-event' && { enum: [...CHANGE_TYPES, 'webhook.test'] }) },
    })),
    requestBody: { required: true, content: contentOf(['application/json'], NewPlant) },
    responses: { 200: { description: 'The receiver has accepted the change' } },
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

/** Returns one response per status, which lists its error numbers. */
function describeErrors(): unknown {
  const codesByStatus = Map.groupBy(Object.keys(ERROR_KINDS) as ErrorCode[], statusOf);
  return Object.fromEntries(
    [...codesByStatus].map(([status, codes]) => [
      nameOf(status),
      {
        description: codes.map((code) => `\`${ERROR_NUMBERS[code]}\` ${ERROR_KINDS[code].when}`).join('\n\n'),
        headers: describeHeaders({
          'Cache-Control': 'Always `no-store`',
          ...RATE_HEADERS,
          ...HEADERS_OF_STATUS[status],
        }),
        content: contentOf(['application/json'], ErrorBody),
      },
    ]),
  );
}

function describeHeaders(headers: Record<string, string> = {}): unknown {
  const all = {
    'X-Request-Id': "Id of the request in the service log. It is the client's own id if that is valid.",
    ...headers,
  };
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

/** Returns the content for each media type. Without a schema, the content is text. */
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
  if (!id) throw new Error('A schema of the API needs a name: .meta({ id })');
  return id;
}

function nameOf(status: number): string {
  return STATUS_CODES[status]?.replaceAll(' ', '') ?? String(status);
}
