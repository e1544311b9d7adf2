// Checks the order of system calls with strace: no 200 leaves before the sync of the batch with its record returns.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { makeFolder } from '../../testing/server.ts';
import { traced, whyNoStrace } from '../../testing/strace.ts';
import { fault } from '../fault.ts';
import { Ledger } from '../ledger.ts';
import { ANSWERS_FIRST, SYNCHRONOUS_OFF } from '../safeguards.ts';
import { ORDER_CALLS, readSyncOrder } from '../sync-order.ts';

fault({
  name: 'response before fsync',
  mark: 'No 200 leaves before the sync of its batch returns.',
  rounds: { short: 600, full: 20_000, of: 'responses over 1 connection, then 65' },
  skip: whyNoStrace(),
  async trial({ rounds, startServer }) {
    const trace = join(makeFolder(), 'trace');
    const server = await startServer({ wrapper: traced(ORDER_CALLS, trace) });
    const ledger = new Ledger();
    const alone = ledger.write(server, { connections: 1 });
    while (ledger.acknowledged.size < rounds / 10) await ledger.grows();
    const together = ledger.write(server, { connections: 64 });
    while (ledger.acknowledged.size < rounds) await ledger.grows();
    assert.equal(await server.stop(), 0);
    await Promise.all([alone, together]);
    const { answers, syncs, violations } = await readSyncOrder(trace);
    assert.equal(violations.length, 0, `${violations.length} of ${answers} responses left too early: ${violations[0]}`);
    assert.equal(answers, ledger.acknowledged.size, 'the trace does not show every response');
    return `${answers.toLocaleString('en')} responses, ${syncs.toLocaleString('en')} syncs, 0 responses too early`;
  },
  controls: {
    'sets synchronous=OFF': {
      changes: SYNCHRONOUS_OFF,
      caught: /record \d+ was not synced when its 200 left/,
      inShort: true,
    },
    'responds 20 ms before it commits': {
      changes: ANSWERS_FIRST,
      caught: /record \d+ was not written when its 200 left/,
    },
  },
});
