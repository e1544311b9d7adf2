// The two commands of the README, as a new user runs them with the npm of Node 20, in a folder with blanks and umlauts.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { execute, installNpm, NPM_10, startAndStorePlant } from '../testing/npm.ts';
import { copyProject } from '../testing/packed.ts';
import { makeFolder } from '../testing/server.ts';

const TIMEOUT_MS = 600_000;

test(`npm ci, npm start and npm test work with npm ${NPM_10}`, { timeout: TIMEOUT_MS }, async () => {
  const npm = await installNpm(NPM_10);
  assert.ok(npm, 'the npm registry cannot be reached');
  const folder = copyProject(join(makeFolder(), 'Grüne Gärten/plant store'));
  await execute(npm, ['ci'], folder);
  await startAndStorePlant(npm, folder);
  const report = await execute(
    npm,
    ['test', '--', 'test/package-name.test.ts', 'src/storage/postgres/commit-batch.test.ts'],
    folder,
  );
  assert.match(report, /pass [1-9]\d*\n.*fail 0\n/);
});
