// A short form of npm run cluster, where its packages are installed: one crash of the PostgreSQL that leads, two
// restarts of nodes.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { missingPackages } from '../cluster/machine.ts';

const missing = missingPackages();
const skip = missing.length > 0 ? { skip: `SKIPPED: ${missing.join(', ')} missing (packages of Debian)` } : {};

test('nothing acknowledged is lost when the primary crashes, and restarts of nodes go unnoticed', skip, async () => {
  const script = join(import.meta.dirname, '../cluster/run.ts');
  const counts = { CLUSTER_KILLS: '1', CLUSTER_FREEZES: '0', CLUSTER_NODE_KILLS: '0', CLUSTER_RESTARTS: '2' };
  const child = spawn(process.execPath, [script], { env: { PATH: process.env.PATH, ...counts } });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      printed += chunk;
    });
  }
  const [status] = await once(child, 'exit');
  assert.equal(status, 0, printed);
  assert.match(printed, /acknowledged and lost +0\n[\s\S]*PASSED/);
});
