// "npm run release" as a maintainer runs it, in a git repository with a copy of the project.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { packProject } from '../packaging/pack.ts';
import { plainEnvironment } from '../packaging/plain-environment.ts';
import { findSection } from '../packaging/release/changelog.ts';
import { exportTree, writeTree } from '../packaging/release/checkout.ts';
import { checkName } from '../packaging/release/registry-name.ts';
import { copyProject } from '../testing/packed.ts';
import { makeFolder, needs } from '../testing/server.ts';

const ROOT = join(import.meta.dirname, '..');
const TIMEOUT_MS = 600_000;
const { version: CURRENT, repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const VERSION = '9.8.7';
const PRIVATE = 'docs/guides/private-notes.md';
const GIT = {
  ...plainEnvironment(process.execPath),
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};

/** Returns a git repository with the files of the project, all committed. */
function makeRepository(): string {
  const root = copyProject();
  git(root, 'init', '--quiet');
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'), 'dir');
  appendFileSync(join(root, '.git/info/exclude'), `/node_modules\n${PRIVATE}\n`);
  for (const [name, value] of Object.entries({ name: 'A Maintainer', email: 'maintainer@example.com' }))
    git(root, 'config', `user.${name}`, value);
  writeFileSync(join(root, 'CHANGELOG.md'), '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n');
  commit(root);
  return root;
}

function git(root: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: root, env: GIT, encoding: 'utf8' });
}

function commit(root: string): void {
  git(root, 'add', '--all');
  git(root, 'commit', '--quiet', '--message', 'Change something');
}

function release(root: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['packaging/release.ts', ...args], {
    cwd: root,
    env: { ...process.env, ...GIT, TZ: 'Asia/Tokyo' },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

suite('npm run release', { timeout: TIMEOUT_MS, ...needs('git') }, () => {
  test('refuses bad input and an unready checkout in one line, and changes nothing', () => {
    const root = makeRepository();
    const assertRefused = (args: string[], message: RegExp) => {
      const { status, stdout, stderr } = release(root, ...args);
      assert.deepEqual({ status, stdout }, { status: 2, stdout: '' }, stderr);
      assert.match(stderr, message);
      assert.equal(stderr.split('\n').length, 2, stderr);
      assert.ok(!existsSync(join(root, 'release')));
    };
    assertRefused(['--publish'], /^Unknown option/);
    assertRefused(['latest'], /^VERSION must have three numbers/);
    assertRefused(['0.0.0'], /^VERSION 0\.0\.0 is lower than/);
    assert.equal(git(root, 'status', '--porcelain'), '');
    writeFileSync(join(root, 'CHANGELOG.md'), '# Changelog\n\n## [Unreleased]\n');
    assertRefused(['--allow-dirty'], /^CHANGELOG\.md has no entry for \d\S+, and no changes under \[Unreleased\]$/m);
    appendFileSync(join(root, 'CHANGELOG.md'), `\n## [${CURRENT}] - 2026-01-01\n\n- The start.\n`);
    assertRefused(['--allow-dirty', '--out', 'README.md'], /^Cannot write to the folder README\.md: EEXIST$/m);
    git(root, 'checkout', '--quiet', '.');
    writeFileSync(join(root, 'README.md'), 'changed');
    for (const args of [[], ['9.8.7']])
      assertRefused(
        args,
        /^The checkout has uncommitted changes, such as README\.md\. Commit them, or add --allow-dirty/,
      );
    assert.equal(git(root, 'status', '--porcelain'), ' M README.md\n');
  });

  test('makes a package that has the same bytes anywhere, with notes and checksums', {
    timeout: TIMEOUT_MS,
  }, async (t) => {
    const root = makeRepository();
    const prepared = release(root, VERSION);
    assert.equal(prepared.status, 0, prepared.stderr);
    assert.match(prepared.stdout, /^Prepared 9\.8\.7 in CHANGELOG\.md, package\.json, /);
    commit(root);
    writeFileSync(join(root, PRIVATE), 'git ignores this file');
    const umask = process.umask(0o077);
    t.after(() => process.umask(umask));
    const out = join(makeFolder(), 'files');
    const made = release(root, '--out', out);
    process.umask(umask);
    assert.equal(made.status, 0, made.stdout + made.stderr);
    t.diagnostic(made.stdout);

    const tarball = 'plant-store-9.8.7.tgz';
    const sums = readFileSync(join(out, 'SHA256SUMS'), 'utf8');
    const names = [...sums.matchAll(/^([0-9a-f]{64}) {2}(\S+)$/gm)].map(([, sum, name = '']) => {
      assert.equal(
        createHash('sha256')
          .update(readFileSync(join(out, name)))
          .digest('hex'),
        sum,
        name,
      );
      return name;
    });
    assert.deepEqual(names, [tarball, 'NOTES.md']);
    assert.deepEqual(readdirSync(out).sort(), [...names, 'SHA256SUMS'].sort());
    const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
    assert.equal(readFileSync(join(out, 'NOTES.md'), 'utf8'), findSection(changelog, VERSION));
    assert.equal(/^! package\.json has no "repository"/m.test(made.stdout), repository === undefined);

    const files = execFileSync('tar', ['-tzf', join(out, tarball)], { encoding: 'utf8' }).split('\n');
    assert.ok(files.includes('package/docs/guides/install.md') && !files.includes(`package/${PRIVATE}`));
    const copy = join(makeFolder(), 'another folder');
    await exportTree(root, 'HEAD', copy);
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'dir');
    const again = await packProject(copy);
    assert.ok(readFileSync(again.tarball).equals(readFileSync(join(out, tarball))), 'another build has other bytes');
  });

  test('with --allow-dirty, builds from changed and new files, and not from ignored ones', async () => {
    const root = makeRepository();
    writeFileSync(join(root, 'README.md'), 'changed');
    writeFileSync(join(root, 'NEW.md'), 'new');
    writeFileSync(join(root, PRIVATE), 'git ignores this file');
    const copy = join(makeFolder(), 'copy');
    const temporary = makeFolder();
    await exportTree(root, await writeTree(root, temporary), copy);
    assert.equal(readFileSync(join(copy, 'README.md'), 'utf8'), 'changed');
    assert.equal(readFileSync(join(copy, 'NEW.md'), 'utf8'), 'new');
    assert.ok(!existsSync(join(copy, PRIVATE)));
    assert.equal(git(root, 'status', '--porcelain'), ' M README.md\n?? NEW.md\n', 'the index of the user is unchanged');
  });
});

suite('the name on the registry', () => {
  const own = {
    name: 'plant-store',
    version: '0.2.0',
    repository: { url: 'git+https://git.example.com/plants/store.git' },
  };
  let published: object | undefined;
  let registry: Server;
  let env: NodeJS.ProcessEnv;

  before(async () => {
    registry = createServer((_, response) => {
      response.writeHead(published ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(published ?? { error: 'Not found' }));
    }).listen(0, '127.0.0.1');
    await once(registry, 'listening');
    const home = makeFolder();
    mkdirSync(join(home, 'cache'));
    const url = `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`;
    env = { ...plainEnvironment(process.execPath), HOME: home, npm_config_registry: url };
  });
  after(() => registry.close());

  function publish(version: string, url: string): void {
    const manifest = { name: own.name, version, repository: { type: 'git', url } };
    published = { ...manifest, 'dist-tags': { latest: version }, versions: { [version]: manifest } };
  }

  test('is free if the registry does not have it', async () => {
    published = undefined;
    assert.equal(await checkName(own, env), 'The name plant-store is free on the registry');
  });

  test('belongs to this project if its repository is the same, and a version is published once', async () => {
    publish('0.1.0', 'git+https://git.example.com/plants/store.git');
    assert.equal(await checkName(own, env), 'The name plant-store belongs to this project on the registry');
    await assert.rejects(checkName({ ...own, version: '0.1.0' }, env), /^UserError: plant-store 0\.1\.0 is already on/);
  });

  test('belongs to another project if its repository differs, or is not known', async () => {
    publish('0.1.0', 'git+https://git.example.com/others/store.git');
    const message =
      /belongs to the project at https:\/\/git\.example\.com\/others\/store on the registry\. Set a scoped name/;
    await assert.rejects(checkName(own, env), message);
    await assert.rejects(checkName({ name: own.name, version: own.version }, env), message);
  });

  test('is not checked if the registry is unreachable', async () => {
    const unreachable = { ...env, npm_config_registry: 'http://127.0.0.1:9/' };
    assert.match(await checkName(own, unreachable), /^The registry is unreachable/);
  });
});
