// The order of imports, as CONTRIBUTING.md has it: a folder of src imports from the folders above it only, and no
// imports form a cycle, those of types included. Biome has rules for both, which take a third of its time.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '..');
const SOURCES = '{src,console,test,testing,torture,bench,cluster,packaging,docs}/**/*.{ts,tsx}';
/** Matches the path of a relative import: static, of types, dynamic, and for side effects. */
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'(\.\.?\/[^']+)'/g;
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

/** The files that each file imports, by their paths in the project. */
type Imports = Map<string, string[]>;

test('no folder of src imports from a folder below it in the order', () => {
  const imports = readImports();
  assert.ok(imports.size > 500 && imports.values().reduce((sum, { length }) => sum + length, 0) > 2000);
  assert.deepEqual(findBackward(imports), []);
});

test('an import from a folder below, or from another folder of the same line, is found', () => {
  const folders = LAYERS.flatMap((names, layer) => names.map((name) => ({ name, layer })));
  for (const from of folders) {
    for (const to of folders.filter((other) => other !== from)) {
      const path = `src/${from.name}/deep/planted.ts`;
      const target = `src/${to.name}/planted.ts`;
      for (const text of [
        `import { value } from '../../${to.name}/planted.ts';`,
        `import {\n  value,\n} from '../../${to.name}/planted.ts';`,
        `import type { Type } from '../../${to.name}/planted.ts';`,
        `export * from '../../${to.name}/planted.ts';`,
        `import '../../${to.name}/planted.ts';`,
        `const { value } = await import('../../${to.name}/planted.ts');`,
      ]) {
        const mayImport = to.layer < from.layer || (from.name === 'http' && to.name === 'mcp');
        const planted = new Map([[path, importsOf(path, text)]]);
        assert.deepEqual(findBackward(planted), mayImport ? [] : [`${path} → ${target}`], text);
      }
    }
  }
});

test('no imports form a cycle', () => {
  assert.equal(findCycle(readImports()), undefined);
});

test('a cycle of imports is found', () => {
  const imports = new Map([
    ['a.ts', ['b.ts', 'c.ts']],
    ['b.ts', ['c.ts']],
    ['c.ts', ['d.ts']],
  ]);
  assert.equal(findCycle(imports), undefined);
  assert.equal(findCycle(imports.set('d.ts', ['b.ts'])), 'b.ts → c.ts → d.ts → b.ts');
});

function readImports(): Imports {
  const paths = globSync(SOURCES, { cwd: ROOT, exclude: ['**/node_modules/**'] });
  return new Map(paths.map((path) => [path, importsOf(path, readFileSync(join(ROOT, path), 'utf8'))]));
}

function importsOf(path: string, text: string): string[] {
  return [...text.matchAll(IMPORT)].map(([, target = '']) => join(path, '..', target));
}

function findBackward(imports: Imports): string[] {
  const folderOf = (path: string) => /^src\/(\w+)\//.exec(path)?.[1] ?? '';
  const layerOf = (path: string) => LAYERS.findIndex((names) => names.includes(folderOf(path)));
  const isBackward = (from: string, to: string) =>
    layerOf(from) >= 0 &&
    folderOf(from) !== folderOf(to) &&
    layerOf(to) >= layerOf(from) &&
    !(folderOf(from) === 'http' && folderOf(to) === 'mcp') &&
    !from.endsWith('.test.ts');
  return imports
    .entries()
    .flatMap(([from, targets]) => targets.filter((to) => isBackward(from, to)).map((to) => `${from} → ${to}`))
    .toArray();
}

/** Returns the first cycle that a search in depth meets. */
function findCycle(imports: Imports): string | undefined {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file].join(' → ');
    if (done.has(file)) return undefined;
    path.push(file);
    for (const target of imports.get(file) ?? []) {
      const cycle = visit(target);
      if (cycle) return cycle;
    }
    path.pop();
    done.add(file);
    return undefined;
  };
  for (const file of imports.keys()) {
    const cycle = visit(file);
    if (cycle) return cycle;
  }
  return undefined;
}
