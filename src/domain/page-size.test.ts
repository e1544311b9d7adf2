import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printJson } from '../lib/exact-json.ts';
import { createPage, MAX_LIMIT, PAGE_BYTES } from './page-size.ts';

function fillPage(name: string, tag = ''): string {
  const { add, page } = createPage(MAX_LIMIT, {});
  const record = { name, tag, created: '2026-01-02T03:04:05.678Z', updated: '2026-01-02T03:04:05.678Z' };
  for (let id = 0n; add({ id, ...record }); id++);
  return printJson(page(true).records);
}

for (const [what, name] of [
  ['control characters', '\u0001'.repeat(60_000)],
  ['letters of three bytes', '木'.repeat(20_000)],
  ['quotes', '"'.repeat(1000)],
  ['long names without escapes', 'x'.repeat(10_000)],
] as const) {
  test(`a page of ${what} ends at its size as JSON`, () => {
    const bytes = Buffer.byteLength(fillPage(name));
    const ofOne = Buffer.byteLength(JSON.stringify(name)) + 200;
    assert.ok(bytes > PAGE_BYTES && bytes < PAGE_BYTES + (PAGE_BYTES / ofOne) * 200 + ofOne, `${bytes} bytes`);
  });
}

test('a page of short names and tags is never cut', () => {
  assert.equal(JSON.parse(fillPage('\u0001'.repeat(40), '\u0001'.repeat(40))).length, MAX_LIMIT);
});
