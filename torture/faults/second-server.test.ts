// Only one server may use a file. A second server starts next to the first, sometimes through a link, and two servers
// start at the same time.

import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { post } from '../../testing/request.ts';
import { makeFolder, type ServerOptions, type TestServer } from '../../testing/server.ts';
import { fault } from '../fault.ts';
import { Ledger } from '../ledger.ts';
import { runBuild } from '../run-build.ts';

const REFUSAL = /^plant-store: [^\n]*another server[^\n]*\n$/i;

fault({
  name: 'second server on the same SQLite file',
  mark: 'The second server refuses to start and gives the reason in one line. The first continues. After kill -9, the next server starts.',
  rounds: { short: 1, full: 20, of: 'second starts next to a writing server, and as many races of two servers' },
  async trial({ rounds, random, launcher, startServer }) {
    const folder = makeFolder();
    const link = join(makeFolder(), 'link.db');
    symlinkSync(join(folder, 'plants.db'), link);
    const ledger = new Ledger();
    for (let round = 0; round < rounds; round++) {
      const server = await startServer({ folder });
      const writing = ledger.write(server, { connections: 8 });
      await setTimeout(random.below(300));
      const path = random.pick([server.databasePath, link]);
      const { status, stderr } = await runBuild(launcher, ['serve'], { env: { DATABASE_URL: `sqlite:${path}` } });
      assert.equal(status, 1, `a second server on the same file exited with ${status}`);
      assert.match(stderr, REFUSAL);
      await ledger.grows();
      await server.kill();
      await writing;
      await race(folder, startServer);
    }
    ledger.assertKept(join(folder, 'plants.db'));
    return `${rounds} refused next to a writing server, ${rounds} in a race, ${ledger.acknowledged.size} acknowledged, 0 lost`;
  },
  controls: {
    'does not take the lock': {
      change: ['src/storage/sqlite/server-lock.ts', 'BEGIN EXCLUSIVE', 'BEGIN'],
      caught: /a second server on the same file exited with null/,
    },
  },
});

/** Starts two servers at the same time. Exactly one of them must start. */
async function race(folder: string, startServer: (options: ServerOptions) => Promise<TestServer>): Promise<void> {
  const starts = await Promise.allSettled([startServer({ folder }), startServer({ folder })]);
  const started = starts.filter((start) => start.status === 'fulfilled').map(({ value }) => value);
  const refused = starts.filter((start) => start.status === 'rejected').map(({ reason }) => String(reason));
  assert.equal(started.length, 1, `${started.length} of two servers started at the same time are running: ${refused}`);
  assert.match(refused[0] ?? '', /plant-store: [^\n]*another server/i);
  for (const server of started) {
    assert.equal((await post(server, '{"id":-1,"name":"Plant number -1"}')).status, 200);
    assert.equal(await server.stop(), 0);
  }
}
