import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toCommand } from './command-name.ts';

const PATH = '/home/me/shop/node_modules/.bin:/usr/local/bin:/usr/bin';

const COMMANDS: [started: string, file: string, command: string][] = [
  ['by its name', '/usr/local/bin/plant-store', 'plant-store'],
  ['by its path', '/opt/plants/plant-store', '/opt/plants/plant-store'],
  [
    'by npx, from the packages of the folder',
    '/home/me/shop/node_modules/.bin/plant-store',
    'node_modules/.bin/plant-store',
  ],
  [
    'by npx, from its cache',
    '/home/me/.npm/_npx/1f/node_modules/.bin/plant-store',
    '/home/me/.npm/_npx/1f/node_modules/.bin/plant-store',
  ],
  ['as a script', '/home/me/my plants/plant-store.js', `node '/home/me/my plants/plant-store.js'`],
];

for (const [started, file, command] of COMMANDS) {
  test(`a program started ${started} recommends ${command}`, { skip: process.platform === 'win32' }, () => {
    assert.equal(toCommand(file, PATH, '/home/me/shop'), command);
  });
}
