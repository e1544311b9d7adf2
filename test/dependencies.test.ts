// Every installed package has a reason, a known licence and a hash.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

interface Locked {
  version?: string;
  license?: string;
  integrity?: string;
  resolved?: string;
  link?: boolean;
  hasInstallScript?: boolean;
  dependencies?: Record<string, string>;
}

const ROOT = join(import.meta.dirname, '..');
const PAGE = 'docs/background/dependencies.md';
const WORKSPACE = 'packaging/node';
const { dependencies } = readJson('package.json') as { dependencies: Record<string, string> };
const { packages } = readJson('package-lock.json') as { packages: Record<string, Locked> };

test('every package in the lockfile has a SHA-512 hash and no fixed registry', () => {
  for (const [path, locked] of Object.entries(packages)) {
    if (path === '' || path === WORKSPACE) continue;
    if (locked.link) assert.equal(locked.resolved, WORKSPACE, path);
    else {
      assert.match(locked.integrity ?? '', /^sha512-[\w+/]{86}==$/, path);
      assert.equal(locked.resolved, undefined, path);
    }
  }
});

test(`${PAGE} lists every production dependency with its licence and the packages it installs`, () => {
  const lines = readFileSync(join(ROOT, PAGE), 'utf8').matchAll(/^\| `(.+?)` \| (.+?) \| (.+?) \| (.+?) \|$/gm);
  const documented = [...lines].map(([, name, reason = '', licence, brings = '']) => {
    assert.ok(reason.length > 10, `${name} has no reason`);
    return { name, licence, brings: brings === 'nothing' ? [] : brings.replaceAll('`', '').split(', ') };
  });
  const installed = Object.keys(dependencies).map((name) => ({
    name,
    licence: packages[`node_modules/${name}`]?.license,
    brings: namesOf([...below(`node_modules/${name}`)]),
  }));
  assert.deepEqual(documented, installed);
});

test('every production package has an MIT, ISC, BSD or Apache-2.0 licence, no install script and an exact version', () => {
  const direct = Object.keys(dependencies).map((name) => `node_modules/${name}`);
  for (const path of new Set(direct.flatMap((one) => [one, ...below(one)]))) {
    const { license, hasInstallScript } = packages[path] ?? {};
    assert.match(license ?? '', /^(MIT|ISC|BSD-[23]-Clause|Apache-2\.0)$/, path);
    assert.equal(hasInstallScript, undefined, path);
  }
  for (const [name, version] of Object.entries(dependencies)) assert.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$/, name);
});

/** Returns the paths of all dependencies of a package, as Node finds them: beside it, or further up. */
function below(path: string, found = new Set<string>()): Set<string> {
  for (const name of Object.keys(packages[path]?.dependencies ?? {})) {
    const place = placesFor(name, path).find((candidate) => candidate in packages);
    assert.ok(place, `${name}, which ${path} needs, is not in the lockfile`);
    if (found.has(place)) continue;
    found.add(place);
    below(place, found);
  }
  return found;
}

function placesFor(name: string, path: string): string[] {
  const parts = path.split('/node_modules/');
  const folders = parts.map((_, at) => parts.slice(0, parts.length - at).join('/node_modules/'));
  return [...folders.map((folder) => `${folder}/node_modules/${name}`), `node_modules/${name}`];
}

function namesOf(paths: string[]): string[] {
  return [
    ...new Set(paths.map((path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length))),
  ].sort();
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, file), 'utf8'));
}
