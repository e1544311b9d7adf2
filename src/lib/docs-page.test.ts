import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { docsPage } from './docs-page.ts';

const SRC = join(import.meta.dirname, '..');

test('messages name pages by a path that exists', () => {
  const files = globSync('**/*.ts', { cwd: SRC }).filter((file) => !file.endsWith('.test.ts'));
  const code = files.map((file) => readFileSync(join(SRC, file), 'utf8').replaceAll(/^ *(?:\/\/|\/?\*).*$/gm, ''));
  const named = code.flatMap((text) => [...text.matchAll(/docsPage\('(.+?)'\)/g)].map(([, page = '']) => page));
  assert.ok(named.length > 5);
  for (const page of named) assert.ok(existsSync(docsPage(page as Parameters<typeof docsPage>[0])), page);
  assert.deepEqual(
    code.flatMap((text) => text.match(/.*\bdocs\/\w+.*\.md.*/g) ?? []),
    [],
    'a reader of the message is in another folder',
  );
});
