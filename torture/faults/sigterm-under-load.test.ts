// Sends SIGTERM while 64 connections write. Each accepted request gets a response, and no connection closes during a
// request.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { makeFolder } from '../../testing/server.ts';
import { fault } from '../fault.ts';
import { Ledger } from '../ledger.ts';

const CONNECTIONS = 64;
const SETTLED = 4 * CONNECTIONS;
const STOPS_WITHIN_MS = 10_000;
/**
 * Time in which an idle connection may send one more request. If all clients stall for longer because the machine is
 * busy, their resets are counted but prove nothing. All other checks still apply.
 */
const GRACE_MS = 500;
const MAX_STALLED = 20;

fault({
  name: 'SIGTERM under load',
  mark: 'Every accepted request gets its response. The process exits with 0 within 10 s. No connection is reset.',
  rounds: { short: 2, full: 50, of: 'shutdowns under 64 writers' },
  async trial({ rounds, random, startServer }) {
    const folder = makeFolder();
    const ledger = new Ledger();
    let [longestMs, stalled] = [0, 0];
    for (let round = 0; round < rounds; round++) {
      const server = await startServer({ folder });
      const writing = ledger.write(server, { connections: CONNECTIONS });
      const before = ledger.acknowledged.size;
      while (ledger.acknowledged.size < before + SETTLED) await ledger.grows(); // all clients are connected by then
      await setTimeout(random.below(500));
      const delay = monitorEventLoopDelay({ resolution: 10 });
      delay.enable();
      const startMs = performance.now();
      assert.equal(await server.stop(), 0);
      longestMs = Math.max(longestMs, performance.now() - startMs);
      const last = new Set(await writing);
      delay.disable();
      const stoodStill = delay.max / 1e6 > GRACE_MS && stalled < MAX_STALLED;
      if (last.size > 1 && stoodStill) {
        stalled++;
        round--;
      } else {
        assert.deepEqual([...last], ['ECONNREFUSED'], `a connected client got ${[...last].join(', ')}`);
      }
      assert.ok(longestMs < STOPS_WITHIN_MS, `the shutdown took ${longestMs.toFixed(0)} ms`);
      assert.equal(existsSync(`${server.databasePath}-wal`), false, 'the server did not close the database');
      ledger.assertKept(server.databasePath);
    }
    const count = ledger.acknowledged.size.toLocaleString('en');
    return `${count} acknowledged, 0 lost, 0 resets, the longest shutdown took ${(longestMs / 1000).toFixed(1)} s; ${stalled} more shutdowns with resets of stalled clients`;
  },
  controls: {
    'closes its idle connections at once': {
      change: [
        'src/service/http-listener.ts',
        'if ((await openConnections(server)) > 0) await sleep(timeouts.lastRequestsMs);',
        '',
      ],
      rounds: 20,
      caught: /a connected client got .*(ECONNRESET|EPIPE)/,
    },
  },
});
