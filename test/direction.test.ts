// Biome checks the order of the folders in src (`npm run check`). Imports against the order, planted here, must fail.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../testing/server.ts';

const ROOT = join(import.meta.dirname, '..');
/** A folder may import from the folders above its own line. */
const LAYERS = [
  ['lib'],
  ['domain'],
  ['observability', 'files'],
  ['storage', 'webhooks', 'auth'],
  ['config'],
  ['client', 'mcp', 'http'],
  ['service'],
  ['cli'],
];
const FOLDERS = LAYERS.flatMap((folders, layer) => folders.map((name) => ({ name, layer })));

test('Biome rejects an import against the order of the folders, including type and dynamic imports', () => {
  const files: Record<string, string> = {};
  const wrong = new Set<string>();
  for (const from of FOLDERS) {
    for (const to of FOLDERS) {
      if (from === to) continue;
      const path = `src/${from.name}/deep/to-${to.name}.ts`;
      files[path] = [
        `import { value } from '../../${to.name}/planted.ts';`,
        `import type { Type } from '../../${to.name}/planted.ts';`,
        `export const seen: Type[] = [value, (await import('../../${to.name}/planted.ts')).value];`,
      ].join('\n');
      if (to.layer > from.layer) wrong.add(path);
    }
  }
  const found = lint(files).filter(({ rule }) => rule === 'lint/style/noRestrictedImports');
  for (const path of wrong) assert.equal(found.filter((one) => one.path === path).length, 3, path);
  const allowed = FOLDERS.flatMap((from) =>
    FOLDERS.filter((to) => to.layer < from.layer).map((to) => `src/${from.name}/deep/to-${to.name}.ts`),
  );
  for (const path of allowed) assert.ok(!found.some((one) => one.path === path), path);
});

test('Biome rejects an import cycle, including a cycle of types only', () => {
  const found = lint({
    'src/lib/one.ts': `import type { Two } from './two.ts';\nexport interface One {\n  two: Two;\n}\n`,
    'src/lib/two.ts': `import type { One } from './one.ts';\nexport interface Two {\n  one: One;\n}\n`,
  });
  assert.ok(found.some(({ rule, severity }) => rule === 'lint/suspicious/noImportCycles' && severity === 'error'));
});

function lint(files: Record<string, string>): { path: string; rule: string; severity: string }[] {
  const folder = makeFolder();
  const { vcs, ...config } = JSON.parse(readFileSync(join(ROOT, 'biome.json'), 'utf8'));
  const all = { ...files, 'biome.json': JSON.stringify(config) };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const script = join(ROOT, 'node_modules/@biomejs/biome/bin/biome');
  const args = [script, 'lint', '--reporter=json', '--max-diagnostics=none', 'src'];
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 });
  const { diagnostics } = JSON.parse(stdout.slice(stdout.indexOf('{')));
  return diagnostics.map(
    (one: { category: string; severity: string; location: { path: string | { file: string } } }) => ({
      path: typeof one.location.path === 'string' ? one.location.path : one.location.path.file,
      rule: one.category,
      severity: one.severity,
    }),
  );
}
