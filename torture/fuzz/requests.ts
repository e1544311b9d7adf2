// Requests generated from the OpenAPI description: valid ones for every operation, and nearly valid ones.

import fc from 'fast-check';
import type { Description, Operation } from '../../testing/description.ts';
import { createHints } from './hints.ts';
import { goodFiles } from './import-files.ts';
import type { PlannedRequest } from './planned-request.ts';
import { type Schema, validTexts } from './schema-texts.ts';
import { escapeText, spoils } from './spoil.ts';

/** Weights by operation, 8 by default. Operations that add to every other response are rare. */
const WEIGHTS: Record<string, number> = {
  ...{ createToken: 1, listTokens: 1, addWebhook: 1, removeWebhook: 4, listWebhooks: 2, enableWebhook: 2 },
  ...{ exportPlants: 1, getMetrics: 1, getDescription: 1, getSummary: 2, getReadiness: 2, getHealth: 2 },
  ...{ createPlant: 16, listPlants: 16 },
};

const authorization: [string, string] = ['Authorization', 'Bearer @secret'];

export interface RequestOptions {
  /** Target of all webhooks. */
  receiverUrl: string;
  isWanted?(path: string): boolean;
}

export function requestsOf(
  description: Description,
  { receiverUrl, isWanted = () => true }: RequestOptions,
): fc.Arbitrary<PlannedRequest> {
  const hints = createHints(description, receiverUrl);
  const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  return fc.oneof(
    ...operations
      .filter(({ path }) => isWanted(path))
      .map(({ method, path, operation }) => {
        const valid = validRequests(method, path, operation);
        const near = fc.tuple(valid, spoils(path, operation, hints)).map(([request, spoil]) => spoil(request));
        return {
          weight: WEIGHTS[operation.operationId] ?? 8,
          arbitrary: fc.oneof(
            { weight: 2, arbitrary: valid },
            { weight: 3, arbitrary: near.map((request) => ({ ...request, isValid: false })) },
          ),
        };
      }),
  );

  function validRequests(method: string, path: string, operation: Operation): fc.Arbitrary<PlannedRequest> {
    const plain = fc
      .record({ parameters: parametersOf(operation), body: bodyOf(operation), isChunked: fc.nat(7) })
      .map(({ parameters, body, isChunked }): PlannedRequest => {
        const headers: [string, string][] = [authorization];
        if (body) headers.push(['Content-Type', body.type]);
        const query: string[] = [];
        let target = path;
        for (const one of parameters) {
          if (one?.place === 'header') headers.push([one.name, one.text]);
          if (one?.place === 'query') query.push(...one.texts.map((text) => `${one.name}=${escapeText(text)}`));
          if (one?.place === 'path') target = target.replace(`{${one.name}}`, () => one.text);
        }
        if (query.length > 0) target += `?${query.join('&')}`;
        return { isValid: true, method, target, headers, body: body?.content, isChunked: isChunked === 0 };
      });
    if (operation.operationId !== 'listPlants') return plain;
    const next = { isValid: true, method, target: '@next', headers: [authorization] };
    return fc.oneof({ weight: 4, arbitrary: plain }, { weight: 1, arbitrary: fc.constant(next) });
  }

  /** Returns the parameters without the cursor, which is valid only from a Link header. */
  function parametersOf({ parameters = [] }: Operation) {
    const wanted = parameters.filter(({ name }) => name !== 'cursor');
    return fc.tuple(
      ...wanted.map(({ name, in: place, schema }) => {
        const values = validTexts(schema, hints, place === 'query' ? `?${name}` : name).map((text) => {
          const value = /^["[]/.test(text) ? (JSON.parse(text) as string | string[]) : text;
          const texts = [value].flat(); // a list is sent as a repeated parameter
          return { place, name, texts, text: texts[0] ?? '' };
        });
        return place === 'path' ? values : fc.option(values, { nil: undefined, freq: 2 });
      }),
    );
  }

  function bodyOf({
    operationId,
    requestBody,
  }: Operation): fc.Arbitrary<{ type: string; content: string } | undefined> {
    const contents = Object.entries(requestBody?.content ?? {});
    if (contents.length === 0) return fc.constant(undefined);
    return fc.oneof(
      ...contents.map(([type, { schema }]) => {
        const wanted = operationId === 'patchPlant' ? withoutId(hints.resolve(schema)) : schema;
        const texts = operationId === 'importPlants' ? goodFiles(type) : validTexts(wanted, hints);
        return texts.map((content) => ({ type, content }));
      }),
    );
  }
}

/** Removes the id, which in a patch must equal that of the path. */
function withoutId(schema: Schema): Schema {
  const { id, ...properties } = schema.properties as Record<string, Schema>;
  return { ...schema, properties };
}
