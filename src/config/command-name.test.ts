import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { suite, test } from 'node:test';
import { LAUNCHER, makeFolder } from '../../testing/server.ts';
import { toShellWord } from '../lib/shell-word.ts';
import { OWN_COMMAND, toCommand } from './command-name.ts';

const PATH = '/home/me/shop/node_modules/.bin:/usr/local/bin:/usr/bin';

const COMMANDS: [started: string, file: string, command: string][] = [
  ['by its name', '/usr/local/bin/plant-store', 'plant-store'],
  ['by its path', '/opt/plants/plant-store', '/opt/plants/plant-store'],
  [
    'by npx or an npm script',
    '/home/me/shop/node_modules/.bin/plant-store',
    '/home/me/shop/node_modules/.bin/plant-store',
  ],
  ['as a script', '/home/me/my plants/plant-store.js', `node '/home/me/my plants/plant-store.js'`],
];

suite('OWN_COMMAND', { skip: process.platform === 'win32' }, () => {
  for (const [started, file, command] of COMMANDS) {
    test(`a program started ${started} recommends ${command}`, () => assert.equal(toCommand(file, PATH), command));
  }

  test('the command names its Node if the shell has none or another one', () => {
    const bin = join(makeFolder(), 'my bin');
    const npx = join(makeFolder(), 'node_modules/.bin');
    for (const folder of [bin, npx]) mkdirSync(folder, { recursive: true });
    symlinkSync(process.execPath, join(npx, 'node')); // of npx -p node@24
    const file = join(npx, 'plant-store');
    const withNode = `${toShellWord(process.execPath)} ${toShellWord(file)}`;
    assert.equal(toCommand(file, [npx, bin].join(delimiter), process.execPath), withNode);
    writeFileSync(join(bin, 'node'), '#!/bin/sh\nexit 9\n');
    assert.equal(toCommand(file, [npx, bin].join(delimiter), process.execPath), withNode);
    const own = makeFolder();
    symlinkSync(process.execPath, join(own, 'node'));
    assert.equal(toCommand(file, [npx, own, bin].join(delimiter), process.execPath), file);
  });

  test('a checkout recommends a program that runs in every folder and with a minimal environment', () => {
    const cwd = makeFolder();
    const bin = join(cwd, 'bin');
    mkdirSync(bin);
    symlinkSync(process.execPath, join(bin, 'node'));
    const env = { HOME: cwd, PATH: `${bin}:/usr/bin:/bin` };
    const version = execFileSync('sh', ['-c', `timeout 10 ${OWN_COMMAND} --version`], { cwd, env, encoding: 'utf8' });
    assert.match(version, /^\d+\.\d+\.\d+\n$/);
    const { stderr } = spawnSync(LAUNCHER, ['list'], { cwd, env, encoding: 'utf8' });
    const [, advised = ''] = /Run "(.+) token create/.exec(stderr) ?? [];
    assert.equal(
      execFileSync('sh', ['-c', `${advised} --version`], { cwd: '/', env, encoding: 'utf8' }),
      version,
      stderr,
    );
  });

  test('a checkout whose folder bin is in PATH recommends the name', () => {
    assert.equal(toCommand(OWN_COMMAND, [dirname(OWN_COMMAND), '/usr/bin'].join(delimiter)), 'plant-store');
  });
});
