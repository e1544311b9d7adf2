// kill -9 at a random moment while 64 connections write: what was acknowledged is there after a restart, and every
// record has its change. (A kill does not test fsync, the page cache survives it: power-cut.test.ts does.)

import { setTimeout } from 'node:timers/promises';
import { makeFolder } from '../../testing/server.ts';
import { fault } from '../fault.ts';
import { Ledger } from '../ledger.ts';
import { ANSWERS_FIRST } from '../safeguards.ts';

fault({
  name: 'process killed',
  mark: '0 acknowledged records lost or changed, 0 records without event or events without record, integrity_check ok',
  rounds: { short: 3, full: 100, of: 'kills under 64 writers' },
  async trial({ rounds, random, startServer }) {
    const folder = makeFolder();
    const ledger = new Ledger();
    for (let round = 0; round < rounds; round++) {
      const server = await startServer({ folder });
      const writing = ledger.write(server, { connections: 64 });
      await ledger.grows();
      await setTimeout(random.below(400));
      await server.kill();
      await writing;
      const restarted = await startServer({ folder });
      ledger.assertKept(restarted.databasePath);
      await restarted.kill();
    }
    return `${ledger.acknowledged.size.toLocaleString('en')} acknowledged, 0 lost`;
  },
  controls: {
    'one that answers, and commits 20 ms later': {
      changes: ANSWERS_FIRST,
      caught: /were acknowledged, and lost/,
      inShort: true,
    },
  },
});
