// Compares the generated pages of docs/reference with their sources.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { renderAll } from '../docs/generate/pages.ts';

for (const [file, text] of Object.entries(await renderAll())) {
  test(`docs/reference/${file} is up to date`, () => {
    const written = readFileSync(join(import.meta.dirname, '../docs/reference', file), 'utf8');
    assert.ok(written === text, `docs/reference/${file} is out of date: run "npm run docs"`);
  });
}
