// More connections than file descriptors. The server must serve open connections, reject or queue the others, and
// recover without a restart when they close.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { createOver, post } from '../../testing/request.ts';
import { query, type TestServer } from '../../testing/server.ts';
import { connectToEachThread } from '../../testing/threads.ts';
import { until } from '../../testing/until.ts';
import { fault } from '../fault.ts';

const MAX_FILES = 256;
const CLIENTS = 400;
const MAX_RECOVERY_MS = 5000;

fault({
  name: 'out of file descriptors',
  mark: 'The server does not crash, serves open connections, and recovers within 5 s.',
  rounds: { short: 2, full: 50, of: `rounds of ${CLIENTS} connections with ${MAX_FILES} file descriptors` },
  skip:
    spawnSync('prlimit', ['--version']).status === 0 ? undefined : 'prlimit is missing: run apt-get install util-linux',
  async trial({ rounds, random, startServer }) {
    const server = await startServer({ wrapper: ['prlimit', `--nofile=${MAX_FILES}`] });
    for (const agent of await connectToEachThread(server.port, server.threads)) agent.destroy(); // all have started
    const before = new Agent({ keepAlive: true, maxSockets: 1 });
    let id = 1;
    assert.equal(await createOver(before, server, { id: id++, name: 'x' }), 200);
    let longestMs = 0;
    for (let round = 0; round < rounds; round++) {
      const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => open(server.port)));
      assert.equal(await createOver(before, server, { id: id++, name: 'x' }), 200, 'an open connection');
      await setTimeout(random.below(300));
      // The server may return 503 for requests that need another file descriptor, but no other error.
      for (const path of ['/plants/summary', '/plants/export', '/plants', '/readyz']) {
        const status = await getOver(before, server, path);
        assert.ok(status === 200 || status === 503, `${path}: ${status}`);
      }
      assert.equal(await createOver(before, server, { id: id++, name: 'x' }), 200, 'an open connection');
      for (const socket of sockets) socket.destroy();

      const goneMs = performance.now();
      const message = () => `still failing: ${server.output().slice(-300)}`;
      const create = () => post(server, `{"id":${id},"name":"x"}`).catch(() => undefined);
      await until(async () => (await create())?.status === 200, MAX_RECOVERY_MS, message);
      longestMs = Math.max(longestMs, performance.now() - goneMs);
      id++;
    }
    before.destroy();
    const [{ count } = {}] = query(server.databasePath, 'SELECT count(*) AS count FROM plants');
    assert.equal(count, BigInt(id - 1));
    assert.doesNotMatch(server.output(), /"level":"fatal"/);
    assert.equal(await server.stop(), 0);
    return `${rounds * CLIENTS} connections, recovered within ${longestMs.toFixed(0)} ms`;
  },
  controls: {
    'treats a file that it cannot open as a disk failure': {
      change: [
        'src/storage/sqlite/read-snapshot.ts',
        `if (isDamage(error) || failureOf(error) === 'bug') throw error;`,
        'throw error;',
      ],
      caught: /^\/(plants|readyz).*: |an open connection/,
    },
    'does not count closed connections': {
      changes: [
        [
          'src/http/core/connection-limits.ts',
          'const MAX_CONNECTIONS = 10_000',
          `const MAX_CONNECTIONS = ${CLIENTS / 2}`,
        ],
        ['src/http/core/connection-limits.ts', `      counts.add(ALL, -1);\n`, ''],
      ],
      caught: /still failing/,
    },
  },
});

function getOver(agent: Agent, { port, secret }: TestServer, path: string): Promise<number | string | undefined> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${secret}` };
    const sent = get({ host: '127.0.0.1', port, path, headers, agent }, (response) => {
      response.resume().on('close', () => resolve(response.statusCode));
    });
    sent.on('error', ({ message }) => resolve(message));
  });
}

/** Opens a connection. The server may close it at once or leave it in the accept queue. */
async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  return socket;
}
