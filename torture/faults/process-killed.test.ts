// Sends kill -9 at a random moment while 64 connections write. After a restart, every acknowledged record and its
// change must exist. The page cache survives a kill, so power-cut.test.ts tests fsync.

import { setTimeout } from 'node:timers/promises';
import { makeFolder } from '../../testing/server.ts';
import { fault } from '../fault.ts';
import { Ledger } from '../ledger.ts';
import { ANSWERS_FIRST } from '../safeguards.ts';

fault({
  name: 'process killed',
  mark: 'No acknowledged record is lost or changed. Every record has its change, and every change its record. integrity_check returns ok.',
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
    'responds 20 ms before it commits': {
      changes: ANSWERS_FIRST,
      caught: /acknowledged records are lost/,
      rounds: 20, // a kill loses nothing if it meets the moment between a commit and the next response
      inShort: true,
    },
  },
});
