// Delays every disk sync by 50 ms. Reads must not slow down, and the queue of writes must stay bounded.

import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { createOver } from '../../testing/request.ts';
import { residentKib, type TestServer } from '../../testing/server.ts';
import { whyNoStrace, withSyncs } from '../../testing/strace.ts';
import { fault } from '../fault.ts';
import { Ledger } from '../ledger.ts';
import { readTimes } from '../read-times.ts';

/** The short form has wide limits, for machines that also run other tests. */
const FULL = { delayMs: 50, p99Ms: 20 };
const SHORT = { delayMs: 200, p99Ms: 100 };
const PAUSE_MS = 5;
/** Writers of long records, which send more than the write queue holds. */
const [LONG_WRITERS, LONG_NAME, LONG_MS, LONG_TIMES] = [1000, 'x'.repeat(60_000), 4000, 6];
/**
 * Maximum growth from the first half of the measurements to the second. The queue is bounded, so memory must settle.
 */
const MAX_GROWTH = 1.25;

let nextLongId = -2;

fault({
  name: 'slow disk',
  mark: 'The p99 of GET and /healthz stays below 20 ms while each sync takes 50 ms longer. Memory stays bounded.',
  rounds: { short: 100, full: 1000, of: 'reads of each kind while 64 writers write' },
  skip: whyNoStrace(),
  async trial({ rounds, isFull, startServer }) {
    const { delayMs, p99Ms } = isFull ? FULL : SHORT;
    const server = await startServer({ wrapper: withSyncs(`delay_enter=${delayMs}ms`) });
    const ledger = new Ledger();
    const agent = new Agent({ keepAlive: true });
    const first = await timeOf(() => createOver(agent, server, { id: -1, name: 'first' }));
    assert.ok(first > delayMs, 'the syncs were not delayed');
    const writing = ledger.write(server, { connections: 64 });
    await ledger.grows();

    const seen: string[] = [];
    for (const path of ['/plants/-1', '/healthz']) {
      const times = await readTimes({
        port: server.port,
        threads: server.threads,
        secret: server.secret,
        path,
        count: rounds,
        pauseMs: PAUSE_MS,
      });
      const late = times.filter((ms) => ms >= p99Ms).length;
      const of = `${late} of ${times.length} took ${p99Ms} ms or longer`;
      assert.ok(late <= rounds / 100, `${path}: ${of} while a sync takes ${delayMs} ms longer`);
      const p99 = times.sort((a, b) => a - b)[Math.floor((times.length - 1) * 0.99)] ?? 0;
      seen.push(`${path} p99 ${p99.toFixed(1)} ms`);
    }
    if (isFull) {
      const mib: number[] = [];
      for (let time = 0; time < LONG_TIMES; time++) mib.push(await writeLong(server));
      const [first, last] = [mib.slice(0, LONG_TIMES / 2), mib.slice(LONG_TIMES / 2)];
      const grown = `${mib.map((one) => one.toFixed(0)).join(', ')} MiB`;
      assert.ok(
        Math.max(...last) < Math.max(...first) * MAX_GROWTH,
        `memory grows while long records are queued: ${grown}`,
      );
      seen.push(`${LONG_WRITERS} writers of long records: ${grown}`);
    }
    assert.equal(await server.stop(), 0);
    await writing;
    return `${seen.join(', ')}, ${ledger.acknowledged.size} written during the reads`;
  },
  controls: {
    'commits on the thread that responds': {
      change: [
        'src/storage/sqlite/group-commit.ts',
        '      transferred,\n    );',
        '      transferred,\n    ); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);',
      ],
      caught: /: \d+ of \d+ took \d+ ms or longer while a sync takes/,
    },
  },
});

/** Sends records of maximum length on each connection, regardless of the responses. Returns the peak memory in MiB. */
async function writeLong(server: TestServer): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: LONG_WRITERS });
  const endMs = performance.now() + LONG_MS;
  let mostKib = 0;
  await Promise.all(
    Array.from({ length: LONG_WRITERS }, async () => {
      while (performance.now() < endMs) {
        const answer = await createOver(agent, server, { id: nextLongId--, name: LONG_NAME });
        assert.ok(answer === 200 || answer === 503, `a long record got ${answer}`);
        mostKib = Math.max(mostKib, residentKib(server));
      }
    }),
  );
  agent.destroy();
  return mostKib / 1024;
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}
