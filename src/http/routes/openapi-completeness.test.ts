// Every part of the OpenAPI description has a description and an example, so that later additions cannot forget them.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { send } from '../../../testing/request.ts';
import { startTestService } from '../../../testing/service.ts';

interface Part {
  [field: string]: unknown;
  description?: string;
}

type Parts = Record<string, Part>;

let document: Part;

before(async () => {
  const { port } = await startTestService();
  document = JSON.parse((await send(port, { path: '/openapi.json' })).body);
});

test('every operation, parameter, body, response, header and property has a description and an example', () => {
  assert.deepEqual(findGaps(document), []);
});

for (const [what, gap, remove] of [
  [
    'an operation without a description',
    'createPlant: description',
    (plants: Parts) => delete plants.post?.description,
  ],
  [
    'a parameter without an example',
    'listPlants limit: example',
    ({ get }: Parts) => delete list(get?.parameters)[0]?.example,
  ],
  [
    'a body without an example',
    'createPlant body application/json: example',
    ({ post }: Parts) => delete contentOf(post?.requestBody).example,
  ],
  [
    'a response without an example',
    'createPlant 200 application/json: example',
    ({ post }: Parts) => delete contentOf(parts(post?.responses)['200']).example,
  ],
  [
    'a header without an example',
    'createPlant 200 ETag: example',
    ({ post }: Parts) => delete parts(parts(post?.responses)['200']?.headers).ETag?.example,
  ],
] as const) {
  test(`the check finds ${what}`, () => {
    const copy = structuredClone(document);
    remove(parts(parts(copy.paths)['/plants']));
    assert.deepEqual(findGaps(copy), [gap]);
  });
}

test('the check finds a property without a description, also inside of others', () => {
  const copy = structuredClone(document);
  const { Summary, Plant } = parts(parts(copy.components).schemas);
  const tags = parts(Summary?.properties).tags?.items as Part;
  delete parts(tags.properties).plants?.description;
  delete parts(Plant?.properties).name?.examples;
  assert.deepEqual(findGaps(copy), ['Plant.name: example', 'Summary.tags.plants: description']);
});

/** Returns what lacks a description or an example. */
function findGaps({ paths, webhooks, components }: Part): string[] {
  const { schemas, responses, securitySchemes } = parts(components);
  const operations = [...Object.values(parts(paths)), ...Object.values(parts(webhooks))].flatMap((path) =>
    Object.values(parts(path)),
  );
  return [
    ...Object.entries(parts(schemas)).flatMap(([name, schema]) => [
      ...ofDescription(name, schema),
      ...ofProperties(name, schema),
    ]),
    ...Object.entries(parts(responses)).flatMap(([name, response]) => ofResponse(name, response)),
    ...Object.entries(parts(securitySchemes)).flatMap(([name, scheme]) => ofDescription(name, scheme)),
    ...operations.flatMap(ofOperation),
  ];
}

function ofOperation(operation: Part): string[] {
  const { operationId, parameters, requestBody, responses } = operation;
  const name = String(operationId);
  return [
    ...ofDescription(name, operation),
    ...list(parameters).flatMap((parameter) => ofBoth(`${name} ${parameter.name}`, parameter)),
    ...(requestBody
      ? [...ofDescription(`${name} body`, requestBody as Part), ...ofContent(`${name} body`, requestBody as Part)]
      : []),
    ...Object.entries(parts(responses))
      .filter(([, response]) => response.$ref === undefined)
      .flatMap(([status, response]) => ofResponse(`${name} ${status}`, response)),
  ];
}

function ofResponse(name: string, response: Part): string[] {
  const headers = Object.entries(parts(response.headers)).flatMap(([header, part]) =>
    ofBoth(`${name} ${header}`, part),
  );
  return [...ofDescription(name, response), ...headers, ...ofContent(name, response)];
}

function ofContent(name: string, { content }: Part): string[] {
  return Object.entries(parts(content)).flatMap(([type, media]) => ofExample(`${name} ${type}`, media));
}

function ofProperties(name: string, { properties, items }: Part): string[] {
  const own = Object.entries(parts(properties)).flatMap(([key, property]) => {
    const { $ref, properties } = (property.items ?? property) as Part;
    const hasParts = $ref !== undefined || properties !== undefined; // then its example consists of theirs
    const at = `${name}.${key}`;
    return [
      ...ofDescription(at, property),
      ...(hasParts ? [] : ofExample(at, property)),
      ...ofProperties(at, property),
    ];
  });
  return items ? [...own, ...ofProperties(name, items as Part)] : own;
}

function ofBoth(name: string, part: Part): string[] {
  return [...ofDescription(name, part), ...ofExample(name, part)];
}

function ofDescription(name: string, { description }: Part): string[] {
  return description ? [] : [`${name}: description`];
}

function ofExample(name: string, { example, examples }: Part): string[] {
  const given = example ?? (Array.isArray(examples) ? examples[0] : Object.values(examples ?? {})[0]);
  return given === undefined ? [`${name}: example`] : [];
}

function contentOf(part: unknown): Part {
  return parts((part as Part).content)['application/json'] ?? {};
}

function parts(value: unknown): Parts {
  return (value ?? {}) as Parts;
}

function list(value: unknown): Part[] {
  return (value ?? []) as Part[];
}
