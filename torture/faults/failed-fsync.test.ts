// One sync fails, and the next ones would succeed: the kernel tells of an error once, and has thrown the pages away.
// Either any sync, or one of the database file, where the log is copied back into it.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { makeFolder } from '../../testing/server.ts';
import { untilInjected, whyNoStrace, withSyncs } from '../../testing/strace.ts';
import { until } from '../../testing/until.ts';
import { fault } from '../fault.ts';
import { Ledger } from '../ledger.ts';
import { ORDER_CALLS, readSyncOrder } from '../sync-order.ts';

const FAILS_WITHIN_MS = 60_000;
/** Then the answers of batches before it have come. */
const LAST_ANSWERS_MS = 2000;

fault({
  name: 'failed fsync',
  mark: 'no 200 for its batch, the process ends with 1, a restart has everything acknowledged',
  rounds: { short: 2, full: 30, of: 'failed syncs under 64 writers' },
  skip: whyNoStrace(),
  async trial({ rounds, isFull, random, startServer }) {
    const folder = makeFolder();
    const trace = join(makeFolder(), 'trace');
    const ledger = new Ledger();
    await (await startServer({ folder })).stop();
    let answers = 0;
    for (let round = 0; round < rounds; round++) {
      const ofFile = round % 2 === 1;
      const when = ofFile ? 1 + random.below(isFull ? 3 : 1) : 4 + random.below(isFull ? 100 : 20);
      const failing = withSyncs(`error=EIO:when=${when}`, {
        file: trace,
        ...(ofFile ? { path: join(folder, 'plants.db') } : { calls: ORDER_CALLS }),
      });
      const server = await startServer({ folder, wrapper: failing });
      const before = ledger.acknowledged.size;
      const exited = once(server.process, 'exit').then(([status]) => status);
      const writing = ledger.write(server, { connections: 64 });
      await untilInjected(trace, AbortSignal.timeout(FAILS_WITHIN_MS));
      await Promise.race([exited, setTimeout(LAST_ANSWERS_MS)]);
      const { size } = ledger.acknowledged;
      await until(() => server.process.exitCode !== null || ledger.acknowledged.size > size);
      const status = server.process.exitCode ?? 'it went on';
      const which = `sync ${when} ${ofFile ? 'of the file' : 'of all'} failed`;
      assert.equal(status, 1, `${which}: the process did not end with 1, but ${status}`);
      assert.match(server.output(), /"level":"fatal".*"kind":"store_failed"/, which);
      for (const last of new Set(await writing)) {
        assert.ok(typeof last === 'string' || last === 503, `${which}: the answer was ${last}`);
      }
      if (!ofFile) {
        const order = await readSyncOrder(trace);
        assert.equal(order.failedSyncs, 1, `${which}: not shown in the trace`);
        assert.deepEqual(order.violations, [], which);
        const acknowledged = ledger.acknowledged.size - before;
        assert.ok(order.answers >= acknowledged, `${which}: the trace does not show every answer`);
        answers += order.answers;
      }
      const restarted = await startServer({ folder });
      ledger.assertKept(restarted.databasePath);
      assert.equal(await restarted.stop(), 0);
    }
    return `${ledger.acknowledged.size.toLocaleString('en')} acknowledged, 0 lost, 0 of ${answers.toLocaleString('en')} answers whose order was seen left after a failed sync`;
  },
  controls: {
    'one that goes on after a failed write to the disk': {
      change: ['src/storage/sqlite/sqlite-errors.ts', `10: 'fatal'`, `10: 'busy'`],
      caught: /failed: the process did not end with 1, but it went on/,
    },
    'one that lets SQLite copy the log back, which tells nobody of a failed sync': {
      changes: [
        ['src/storage/sqlite/writer-thread.ts', `db.exec('PRAGMA wal_autocheckpoint = 0');`, ''],
        ['src/storage/sqlite/writer-thread.ts', '  tolerantly(checkpointWhenLong);', ''],
      ],
      caught: /of the file failed: the process did not end with 1, but it went on/,
    },
  },
});
