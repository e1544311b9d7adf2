// Tests Ctrl-C during a long import in its own process.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { piped } from '../../testing/command-line.ts';
import { LAUNCHER, makeStoreFolder, query } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';

const LINES = 400_000;

test('Ctrl-C during an import keeps whole batches, and a second run completes the import', async (t) => {
  const folder = await makeStoreFolder();
  const [path, file] = [join(folder, 'plants.db'), join(folder, 'in.ndjson')];
  writeFileSync(file, Array.from({ length: LINES }, (_, n) => `{"id":${n},"name":"Plant ${n}"}\n`).join(''));
  const env = { DATABASE_URL: `sqlite:${path}` };
  const child = spawn(process.execPath, [LAUNCHER, 'import', file], { env: { PATH: process.env.PATH, ...env } });
  t.after(() => child.kill('SIGKILL'));
  const ended = once(child, 'close');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  await until(() => existsSync(path) && hasPlants(path));
  child.kill('SIGINT');
  assert.deepEqual(await ended, [130, null]);
  assert.match(output, /Interrupted\. All counted plants are stored\. Run the command again to continue\.\n/);
  const { created } = JSON.parse(/{.*}/.exec(output)?.[0] ?? '');
  assert.ok(created > 0 && created < LINES, `${created} were stored`);
  const counts = 'SELECT (SELECT count(*) FROM plants) AS plants, (SELECT count(*) FROM changes) AS changes';
  assert.deepEqual(query(path, counts), [{ plants: BigInt(created), changes: BigInt(created) }]);
  const second = await piped(['import', file], env);
  assert.deepEqual(JSON.parse(second.stdout), { created: LINES - created, replayed: created, failed: 0 });
});

function hasPlants(path: string): boolean {
  try {
    return query(path, 'SELECT id FROM plants LIMIT 1').length === 1;
  } catch {
    return false; // the tables do not exist yet
  }
}
