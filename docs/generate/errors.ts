// Renders docs/reference/errors.md from the tables of errors.

import { ERROR_NUMBERS, type ErrorCode } from '../../src/domain/errors.ts';
import { ERROR_KINDS, statusOf } from '../../src/http/core/error-response.ts';
import { HEADERS_OF_STATUS, RATE_HEADERS } from '../../src/http/routes/openapi-headers.ts';
import { toCode, toPage, toTable } from './markdown.ts';

const INTRODUCTION = `Every error is \`{"error", "message"}\`, on every path. \`error\` is the HTTP status × 100 + n, and each number keeps its
meaning in all versions. \`message\` is for people and can change, so programs must compare the number. The word in the
second column is the \`code\` of a \`PlantStoreError\` in the client library.`;

const ORDER = `## Order of the checks

The server checks credentials first. Without a valid token, a response reveals nothing about the body, an id, or a path
below \`/plants\`, \`/events\`, \`/tokens\` or \`/webhooks\`. Error 40009 has the status 400 because the published API
description requires it.`;

export function renderErrors(): string {
  const codes = Object.keys(ERROR_NUMBERS) as ErrorCode[];
  const errors = codes.map((code) => {
    const { when, action } = ERROR_KINDS[code];
    return [String(ERROR_NUMBERS[code]), toCode(code), String(statusOf(code)), when, action];
  });
  return toPage('Errors', INTRODUCTION, [
    toTable(['error', 'code', 'HTTP status', 'when', 'what to do'], errors),
    ORDER,
    '## Headers\n\nError responses have these headers.',
    toTable(['header', 'errors', 'value'], listHeaders(codes)),
  ]);
}

function listHeaders(codes: ErrorCode[]): string[][] {
  const closing = codes.filter((code) => ERROR_KINDS[code].headers?.connection === 'close');
  const byStatus = Object.entries(HEADERS_OF_STATUS).flatMap(([status, headers]) =>
    Object.entries(headers).map(([name, text]) => [
      toCode(name),
      `status ${status}`,
      typeof text === 'string' ? text : text.description,
    ]),
  );
  return [
    [toCode('X-Request-Id'), 'all', 'Id of the request in the service log'],
    [toCode('Cache-Control'), 'all', 'Always `no-store`'],
    ...Object.entries(RATE_HEADERS).map(([name, value]) => [toCode(name), 'all', value]),
    ...byStatus,
    [
      toCode('Connection'),
      closing.map((code) => ERROR_NUMBERS[code]).join(', '),
      'Always `close`: the server closes the connection',
    ],
  ];
}
