// Holds answers against the OpenAPI description that the same server gives.

import assert from 'node:assert/strict';
import { STATUS_CODES } from 'node:http';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Answer, send } from './request.ts';

interface Response {
  $ref?: string;
  content?: Record<string, { schema: object }>;
}

interface Description {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
  components: { responses: Record<string, Response> };
}

export type CheckAnswer = (method: string, path: string, answer: Answer) => void;

export async function readDescription(port: number): Promise<Description> {
  return JSON.parse((await send(port, { path: '/openapi.json' })).body);
}

/** Throws if the description does not name the status, or the body is not as it says. */
export async function createCheck(port: number): Promise<CheckAnswer> {
  const description = await readDescription(port);
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(description, 'description');

  return (method, path, answer) => {
    const operation =
      description.paths[decodeURI(path.replace(/\?.*/, '').replace('%zz', ''))]?.[
        method === 'HEAD' ? 'get' : method.toLowerCase()
      ];
    const name = STATUS_CODES[answer.status]?.replaceAll(' ', '') ?? '';
    const named = operation ? operation.responses[answer.status] : { $ref: `#/components/responses/${name}` };
    assert.ok(named, `${method} ${path} does not name ${answer.status}`);
    const response = named.$ref ? description.components.responses[named.$ref.split('/').at(-1) ?? ''] : named;
    assert.ok(response, `there is no response ${named.$ref}`);
    assert.ok(answer.headers['x-request-id'], 'X-Request-Id is missing');
    if (method === 'HEAD') return;
    const schema = response.content?.['application/json']?.schema;
    assert.ok(schema, `${method} ${path} names no JSON for ${answer.status}`);
    const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"description#/')));
    assert.ok(validate(JSON.parse(answer.body)), `${answer.body}: ${ajv.errorsText(validate.errors)}`);
  };
}
