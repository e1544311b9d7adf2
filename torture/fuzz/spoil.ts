// Ways to make a valid request invalid: in its method, path, parameters, headers or body.

import fc from 'fast-check';
import type { Operation } from '../../testing/description.ts';
import { anyFiles } from './import-files.ts';
import { ODD_HEADERS } from './odd-headers.ts';
import type { PlannedRequest } from './planned-request.ts';
import { type Hints, nearTexts, oddTexts } from './schema-texts.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'get', 'BREW', ''];
const ODD_SEGMENTS = [
  '%2e%2e',
  '%00',
  '%zz',
  '%ff',
  '%2f',
  '%E2%82',
  '',
  '.',
  '..',
  'x',
  '*',
  ';a=b',
  'import',
  '\xff',
];
const DEEP_BODIES = ['['.repeat(40), '{"a":'.repeat(33)];
const ODD_BODIES = ['', '\ufeff{}', '{}', ...DEEP_BODIES, `"${'x'.repeat(66_000)}"`, 'id,name\n1,a\n'];

export type Spoil = (request: PlannedRequest) => PlannedRequest;

export function spoils(path: string, operation: Operation, hints: Hints): fc.Arbitrary<Spoil> {
  const { parameters = [], requestBody, operationId } = operation;
  const ways: fc.Arbitrary<Spoil>[] = [
    fc.constantFrom(...METHODS).map((method) => (request) => ({ ...request, method })),
    fc.constantFrom(...ODD_HEADERS).map((header) => (request) => withHeader(request, header)),
    fc.tuple(fc.nat(), fc.constantFrom(...ODD_SEGMENTS), fc.boolean()).map(bendPath),
    oddTexts.map((text) => (request) => withQuery(request, `x=${escapeText(text)}`)),
    fc
      .oneof(fc.constantFrom(...ODD_BODIES), fc.uint8Array({ maxLength: 50 }))
      .map((body) => (request) => ({ ...request, body })),
  ];
  if (parameters.length > 0) {
    const wrong = fc
      .tuple(fc.constantFrom(...parameters), oddTexts, fc.nat(8))
      .map(([{ in: place, name }, text, how]): Spoil => {
        if (place === 'header') return (request) => withHeader(request, [name, text.replace(/[^\x20-\xff]/g, '')]);
        const value = how === 0 ? '%zz%ff' : escapeText(text);
        if (place === 'path')
          return (request) => ({ ...request, target: replaceSegment(request.target, path, name, value) });
        const pair = how === 1 ? name : `${name}=${value}`;
        return (request) => withQuery(request, how === 2 ? `${pair}&${pair}` : pair);
      });
    ways.push(wrong, wrong, wrong);
  }
  for (const { schema } of Object.values(requestBody?.content ?? {})) {
    const near = operationId === 'importPlants' ? anyFiles : nearTexts(schema, hints);
    const spoiled = near.map(
      (body): Spoil =>
        (request) => ({ ...request, body }),
    );
    ways.push(
      spoiled,
      spoiled,
      spoiled,
      edits.map((all) => (request) => ({ ...request, body: mutate(request.body, all) })),
    );
  }
  return fc.tuple(fc.oneof(...ways), fc.option(fc.oneof(...ways), { nil: undefined, freq: 3 })).map(
    ([one, other]) =>
      (request) =>
        other ? other(one(request)) : one(request),
  );
}

interface Edit {
  at: number;
  lose: number;
  put: Uint8Array;
}

const edits = fc.array(
  fc.record({
    at: fc.nat(),
    lose: fc.nat(2),
    put: fc.oneof(fc.uint8Array({ maxLength: 2 }), fc.constant(Buffer.from('"'))),
  }),
  { minLength: 1, maxLength: 3 },
);

function mutate(body: string | Uint8Array = '', all: Edit[]): Uint8Array {
  let bytes: Uint8Array = Buffer.from(body);
  for (const { at, lose, put } of all) {
    const start = at % (bytes.length + 1);
    bytes = Buffer.concat([bytes.subarray(0, start), put, bytes.subarray(start + lose)]);
  }
  return bytes;
}

function bendPath([at, segment, instead]: [number, string, boolean]): Spoil {
  return (request) => {
    const [path = '', ...query] = request.target.split('?');
    const segments = path.split('/');
    segments.splice(1 + (at % segments.length), instead ? 1 : 0, segment);
    return { ...request, target: [segments.join('/') || '/', ...query].join('?') };
  };
}

function replaceSegment(target: string, path: string, name: string, value: string): string {
  const [own = '', ...query] = target.split('?');
  const segments = own.split('/');
  segments[path.split('/').indexOf(`{${name}}`)] = value;
  return [segments.join('/'), ...query].join('?');
}

function withQuery(request: PlannedRequest, pair: string): PlannedRequest {
  return { ...request, target: `${request.target}${request.target.includes('?') ? '&' : '?'}${pair}` };
}

/** Adds the header, and removes an existing one with the same spelling. */
function withHeader(request: PlannedRequest, header: [string, string]): PlannedRequest {
  const others = request.headers.filter(([name]) => name !== header[0]);
  return { ...request, headers: [...others, header] };
}

export function escapeText(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
