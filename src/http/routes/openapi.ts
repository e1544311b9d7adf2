// Generates the OpenAPI description from the routes and from the schemas that validate requests.

import { z } from 'zod';
import { WebhookEvent } from '../../domain/delivery.ts';
import { ERROR_NUMBERS, type ErrorCode } from '../../domain/errors.ts';
import { CHANGE_TYPES, type WebhookFormat } from '../../domain/names.ts';
import { NewPlant } from '../../domain/plant.ts';
import { STATUS_CODES } from '../../lib/lean-http.ts';
import { ERROR_KINDS, ErrorBody, statusOf } from '../core/error-response.ts';
import type { RequestBody } from '../core/json-body.ts';
import type { Parameter } from '../core/parameters.ts';
import { type Access, NO_STORE, type Route, type RouteResponse, route, scopesOf } from '../core/route.ts';
import { JSON_TYPE } from '../core/send-reply.ts';
import type { ServerUrlOf } from '../core/server-url.ts';
import { describeHeaders, HEADERS_OF_STATUS, RATE_HEADERS } from './openapi-headers.ts';
import { DescribedSchemas, referenceTo, textContent } from './openapi-schemas.ts';

const DESCRIPTION = `Plant Store is a store of plant records with an HTTP API.

Every failed request returns an \`Error\`. Its number is the HTTP status × 100 + n, and a published number never changes
its meaning. An unknown path returns 404 with error 40400. An unsupported method returns 405 with error 40500 and \`Allow\`.

Ids have 64 bits. In a language whose numbers have 53 bits, such as JavaScript, \`JSON.parse\` rounds ids beyond
±9007199254740991: use a parser that keeps them exact.

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

/** Tags by the first segment of the path, which group the operations in documentation and generated clients. */
const TAGS: Record<string, { name: string; description: string }> = {
  plants: { name: 'Plants', description: 'Create, read, change, delete, import and export plants' },
  events: { name: 'Changes', description: 'Read or follow the change log' },
  tokens: { name: 'Tokens', description: 'Manage the tokens that authenticate clients' },
  webhooks: { name: 'Webhooks', description: 'Manage webhooks, which send changes to receivers' },
};
const OTHERS = { name: 'Operations', description: 'Check and monitor the service' };

const BEARER_AUTH = {
  type: 'http',
  scheme: 'bearer',
  description:
    'A token of this service, or a JWT of its identity provider. It has scopes: `plants:read`, `plants:write` and `admin`. ' +
    'No scope includes another. Each operation names the scopes that it requires, also in `x-required-scopes`.',
};
/** Stands for the URL of the server until a client requests the description. */
const URL_PLACEHOLDER = '{server_url}';

/** Returns the route that serves the description of all routes, including itself. */
export function openapiRoute(others: Route[], serverUrlOf: ServerUrlOf): Route {
  let printed: Buffer[] | undefined;
  const self: Route = route('GET /openapi.json', 'getDescription', 'open', {
    summary: 'Get the OpenAPI description',
    description: 'Returns this description in OpenAPI 3.1.',
    response: {
      description: 'The OpenAPI description',
      schema: z
        .looseObject({ openapi: z.string().meta({ description: 'Version of OpenAPI', examples: ['3.1.0'] }) })
        .meta({ id: 'Description', description: 'An OpenAPI description' }),
    },
    handle({ request, reply }) {
      printed ??= JSON.stringify(describe([...others, self]))
        .split(URL_PLACEHOLDER)
        .map((part) => Buffer.from(part));
      const [before, after] = printed as [Buffer, Buffer];
      reply.type(JSON_TYPE);
      return [before, Buffer.from(serverUrlOf(request)), after]; // all responses share the long parts, which saves memory
    },
  });
  return self;
}

function describe(routes: Route[]): unknown {
  const schemas = new DescribedSchemas([
    ErrorBody,
    WebhookEvent,
    ...routes.flatMap(({ body, response }) => [body?.schema, response.schema]),
  ]);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const entry of routes) {
    const path = entry.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [entry.method.toLowerCase()]: describeOperation(entry, routes, schemas) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Plant Store',
      version: '1.0.0',
      description: DESCRIPTION,
      contact: { name: 'The operator of this service' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: URL_PLACEHOLDER, description: 'This service' }],
    security: [{ bearerAuth: [] }],
    tags: [...Object.values(TAGS), OTHERS],
    paths,
    webhooks: {
      '/plant/webhook': {
        post: { operationId: 'receiveChange', ...describeWebhookMessage('plant', schemas.json([JSON_TYPE], NewPlant)) },
      },
      '/plant/event': {
        post: {
          operationId: 'receiveEvent',
          ...describeWebhookMessage('event', schemas.json([JSON_TYPE], WebhookEvent)),
        },
      },
    },
    components: {
      securitySchemes: { bearerAuth: BEARER_AUTH },
      responses: describeErrors(routes),
      schemas: schemas.byName,
    },
  };
}

/** Returns the errors that an operation can return. */
function errorsOf(entry: Route, routes: Route[]): ErrorCode[] {
  const { access, method, body, errors = [] } = entry;
  return [
    ...ALWAYS,
    ...(access === 'open' ? [] : WITH_TOKEN),
    ...(access !== 'open' && method === 'GET' ? (['over_share'] as const) : []),
    ...(access === 'open' || access === 'any' ? [] : (['scope_missing'] as const)),
    ...(body?.schema ? WITH_JSON : []),
    ...(body ? (['media_type'] as const) : []),
    ...(coversPathWithoutMethod(entry, routes) ? (['no_such_method'] as const) : []),
    ...errors,
  ];
}

/** True if a path with parameters also fits a path without this method, as `GET /plants/:id` fits `/plants/import`. */
function coversPathWithoutMethod({ method, path }: Route, routes: Route[]): boolean {
  const pattern = new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`);
  const covered = routes.map((other) => other.path).filter((other) => other !== path && pattern.test(other));
  return covered.some((other) => !routes.some((route) => route.path === other && route.method === method));
}

function describeOperation(entry: Route, routes: Route[], schemas: DescribedSchemas): unknown {
  const { path, operationId, summary, description, access, parameters, body, response } = entry;
  return {
    operationId,
    tags: [tagOf(path)],
    summary,
    ...describeAccess(description, access),
    security: access === 'open' ? [] : [{ bearerAuth: [] }],
    ...(scopesOf(access).length > 0 && { 'x-required-scopes': scopesOf(access) }), // Spectral allows scopes only in OAuth 2
    ...(parameters && { parameters: Object.values(parameters).map(describeParameter) }),
    ...(body && { requestBody: describeBody(body, schemas) }),
    responses: {
      [response.status ?? 200]: {
        description: response.description,
        headers: describeHeaders({ ...response.headers, ...(access !== 'open' && RATE_HEADERS) }),
        ...((response.schema || response.streams) && { content: describeContent(response, schemas) }),
      },
      ...(response.notModified && {
        304: {
          description: 'The record has not changed',
          headers: describeHeaders({ ...response.headers, ...RATE_HEADERS }),
        },
      }),
      ...Object.fromEntries(
        errorsOf(entry, routes).map((code) => [
          statusOf(code),
          { $ref: `#/components/responses/${nameOf(statusOf(code))}` },
        ]),
      ),
    },
  };
}

/** Returns the description of an operation, with its required scopes. */
function describeAccess(description: string | undefined, access: Access): { description?: string } {
  const scopes = scopesOf(access);
  if (scopes.length === 0) return description === undefined ? {} : { description };
  const needed = `Requires the scope${scopes.length > 1 ? 's' : ''} ${scopes.map((scope) => `\`${scope}\``).join(' and ')}.`;
  return { description: description === undefined ? needed : `${description} ${needed}` };
}

/** Describes the message that a receiver gets: the body in this format, and the headers of this service. */
function describeWebhookMessage(format: WebhookFormat, content: unknown): object {
  const headers: Record<string, [description: string, example: string]> = {
    'webhook-id': [
      'Id of the message. It is the same for every attempt, so receivers can detect duplicates.',
      'msg_3HqL0aYbT5nR_1042',
    ],
    'webhook-timestamp': ['Time of this attempt, in seconds since 1970', '1794907800'],
    'webhook-signature': [
      '`v1,` followed by the HMAC-SHA256 of `id.timestamp.body` in base64 (Standard Webhooks 1.0). During a rotation it holds two signatures, separated by a space.',
      'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
    ],
    'webhook-event': [
      'Type of the change, or `webhook.test` for a test. The signature does not cover it.',
      'plant.created',
    ],
  };
  return {
    tags: [TAGS.webhooks?.name],
    summary: `Receive a change in the format \`${format}\``,
    description:
      `The server sends this request to the URL of a webhook with the format \`${format}\`. A 2xx status within 15 s marks the change as delivered. ` +
      'Status 410 disables the webhook. After any other result, the server retries for three days. ' +
      'The server does not follow redirects.',
    security: [],
    parameters: Object.entries(headers).map(([name, [description, example]]) => ({
      in: 'header',
      name,
      description,
      required: true,
      example,
      schema: { type: 'string', ...(name === 'webhook-event' && { enum: [...CHANGE_TYPES, 'webhook.test'] }) },
    })),
    requestBody: {
      description: 'The plant after the change, or before a delete, in the format of the webhook',
      required: true,
      content,
    },
    responses: { 200: { description: 'The receiver has accepted the change' } },
  };
}

function tagOf(path: string): string {
  return (TAGS[path.split('/')[1] ?? ''] ?? OTHERS).name;
}

function describeParameter({ in: place, name, description, schema }: Parameter<unknown>): unknown {
  const { examples, ...rest } = schema;
  const [example] = examples ?? [];
  return { in: place, name, description, ...(place === 'path' && { required: true }), schema: rest, example };
}

function describeBody({ types, schema, description }: RequestBody<unknown>, schemas: DescribedSchemas): unknown {
  return { description, required: true, content: schema ? schemas.json(types, schema) : textContent(types) };
}

function describeContent({ schema, streams = [], streamExample }: RouteResponse, schemas: DescribedSchemas): unknown {
  return { ...(schema && schemas.json([JSON_TYPE], schema)), ...textContent(streams, streamExample) };
}

/** Returns one response per status that an operation can return, which lists the errors with this status. */
function describeErrors(routes: Route[]): unknown {
  const used = new Set(routes.flatMap((entry) => errorsOf(entry, routes)).map(statusOf));
  const codesByStatus = Map.groupBy(Object.keys(ERROR_KINDS) as ErrorCode[], statusOf);
  return Object.fromEntries(
    [...codesByStatus]
      .filter(([status]) => used.has(status))
      .map(([status, codes]) => [
        nameOf(status),
        {
          description: codes.map((code) => `- \`${ERROR_NUMBERS[code]}\`: ${ERROR_KINDS[code].when}`).join('\n'),
          headers: describeHeaders({ ...NO_STORE, ...RATE_HEADERS, ...HEADERS_OF_STATUS[status] }),
          content: { [JSON_TYPE]: { schema: referenceTo(ErrorBody), examples: examplesOf(codes) } },
        },
      ]),
  );
}

function examplesOf(codes: ErrorCode[]): unknown {
  return Object.fromEntries(
    codes.map((code) => {
      const { when, message } = ERROR_KINDS[code];
      return [code, { summary: when, value: { error: ERROR_NUMBERS[code], message } }];
    }),
  );
}

function nameOf(status: number): string {
  return STATUS_CODES[status]?.replaceAll(' ', '') ?? String(status);
}
