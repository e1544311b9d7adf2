// One sync fails, and the next ones would succeed: the kernel reports an error once and discards the pages. The trial
// fails any sync, or a sync of the database file while a checkpoint copies the WAL into it.

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
/** Time for the responses of earlier batches to arrive. */
const LAST_ANSWERS_MS = 2000;

fault({
  name: 'failed fsync',
  mark: 'The batch gets no 200, and the process exits with status 1. After a restart, every acknowledged record is stored.',
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
      const status = server.process.exitCode ?? 'it continued';
      const which = `sync ${when} ${ofFile ? 'of the database file' : 'of all'} failed`;
      assert.equal(status, 1, `${which}: the process did not exit with 1: ${status}`);
      assert.match(server.output(), /"level":"fatal".*"kind":"store_failed"/, which);
      for (const last of new Set(await writing)) {
        assert.ok(typeof last === 'string' || last === 503, `${which}: the last response was ${last}`);
      }
      if (!ofFile) {
        const order = await readSyncOrder(trace);
        assert.equal(order.failedSyncs, 1, `${which}: not shown in the trace`);
        assert.deepEqual(order.violations, [], which);
        const acknowledged = ledger.acknowledged.size - before;
        assert.ok(order.answers >= acknowledged, `${which}: the trace does not show every response`);
        answers += order.answers;
      }
      const restarted = await startServer({ folder });
      ledger.assertKept(restarted.databasePath);
      assert.equal(await restarted.stop(), 0);
    }
    return `${ledger.acknowledged.size.toLocaleString('en')} acknowledged, 0 lost, 0 of ${answers.toLocaleString('en')} traced responses left after a failed sync`;
  },
  controls: {
    'continues after a failed disk write': {
      change: ['src/storage/sqlite/sqlite-errors.ts', `10: 'fatal'`, `10: 'busy'`],
      caught: /failed: the process did not exit with 1: it continued/,
    },
    'lets SQLite run checkpoints, which hides a failed sync': {
      changes: [
        ['src/storage/sqlite/wal-checkpoint.ts', `db.exec('PRAGMA wal_autocheckpoint = 0');`, ''],
        ['src/storage/sqlite/writer-thread.ts', '  checkpoint.runIfLong();', ''],
      ],
      caught: /of the database file failed: the process did not exit with 1: it continued/,
    },
  },
});
