// Compares responses with the OpenAPI description of the same server.

import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type Answer, type Call, callerOf, send } from './request.ts';

interface Response {
  $ref?: string;
  content?: Record<string, { schema: object }>;
}

export interface Operation {
  operationId: string;
  description: string;
  parameters?: { name: string; in: string; schema: Record<string, unknown> }[];
  /** Empty if the operation requires no token. */
  security: { bearerAuth: string[] }[];
  'x-required-scopes'?: string[];
  requestBody?: { content: Record<string, { schema: Record<string, unknown> }> };
  responses: Record<string, Response>;
}

export interface Description {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, Response>; schemas: Record<string, Record<string, unknown>> };
}

/** The response to an unknown path or method, which no operation describes. */
const ANY_ERROR: Response = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } };

export type CheckAnswer = (method: string, path: string, answer: Answer) => void;

export async function readDescription(port: number, basePath = ''): Promise<Description> {
  return JSON.parse((await send(port, { path: `${basePath}/openapi.json` })).body);
}

/** Returns the operations of a path. A literal path takes precedence over one with parameters. */
function findPath({ paths }: Description, sent: string): Description['paths'][string] | undefined {
  const segments = sent
    .replace(/^https?:\/\/[^/?#]*/i, '')
    .replace(/[?#].*/s, '')
    .split('/')
    .map(decode);
  const matching = Object.keys(paths).filter((path) => {
    const parts = path.split('/');
    return (
      parts.length === segments.length &&
      parts.every((part, at) => part === segments[at] || (part.startsWith('{') && segments[at] !== ''))
    );
  });
  return paths[matching.find((path) => !path.includes('{')) ?? matching[0] ?? ''];
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Throws if the description lacks the status, or if the body differs from its schema or has an additional field. */
export async function createCheck(port: number): Promise<CheckAnswer> {
  const description = closeObjects(await readDescription(port));
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(description, 'description');
  const validators = new Map<object, ValidateFunction>();

  return (method, path, answer) => {
    const operation = findPath(description, path)?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
    const named = operation ? operation.responses[answer.status] : ANY_ERROR;
    assert.ok(named, `${method} ${path} does not name ${answer.status}`);
    const response = named.$ref ? description.components.responses[named.$ref.split('/').at(-1) ?? ''] : named;
    assert.ok(response, `there is no response ${named.$ref}`);
    assert.ok(answer.headers['x-request-id'], 'X-Request-Id is missing');
    if (method === 'HEAD') return;
    if (!response.content) return assert.equal(answer.body, '', `${method} ${path} names no body for ${answer.status}`);
    const type = answer.headers['content-type']?.split(';')[0] ?? 'no type';
    const schema = response.content[type]?.schema;
    assert.ok(schema, `${method} ${path} names no ${type} for ${answer.status}`);
    if (type !== 'application/json') return;
    let validate = validators.get(schema);
    validate ??= ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"description#/')));
    validators.set(schema, validate);
    assert.ok(validate(JSON.parse(answer.body)), `${answer.body}: ${ajv.errorsText(validate.errors)}`);
  };
}

/** Rejects additional fields. Clients must accept them, but a description that omits one is incomplete. */
function closeObjects(description: Description): Description {
  const close = (_key: string, value: { type?: string; properties?: object } | null) =>
    value?.type === 'object' && value.properties ? { additionalProperties: false, ...value } : value;
  return JSON.parse(JSON.stringify(description), close as (key: string, value: unknown) => unknown) as Description;
}

/** Returns a caller that checks every response against the description. */
export async function checkedCallerOf(server: { port: number }, secret: string): Promise<Call> {
  const check = await createCheck(server.port);
  const call = callerOf(server, secret);
  return async (method, path, body) => {
    const answer = await call(method, path, body);
    check(method, path, answer);
    return answer;
  };
}
