// A database file is removed or replaced under a running server: the WAL, the WAL index or the lock file. SQLite
// continues to write to the unlinked file, which is lost after a crash.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { post, send } from '../../testing/request.ts';
import { makeFolder, type TestServer } from '../../testing/server.ts';
import { fault } from '../fault.ts';
import { Ledger } from '../ledger.ts';

const ENDS_WITHIN_MS = 1000;
/** A busy machine can delay one attempt. A broken server is late in every attempt. */
const TRIES = 4;
const LINE = /"level":"fatal".*"kind":"store_failed".*plants\.db/g;

interface Loss {
  suffix: '-wal' | '-shm' | '.lock';
  /** True to replace the file with an older copy of itself. */
  isReplaced?: true;
  isIdle?: true;
  /** True to lose the file during an export, whose reader blocks the checkpoint of the WAL. */
  duringExport?: true;
}

const LOSSES: Loss[] = [
  { suffix: '-wal' },
  { suffix: '-wal', isIdle: true },
  { suffix: '-wal', isReplaced: true },
  { suffix: '-shm' },
  { suffix: '.lock' },
  { suffix: '-wal', duringExport: true },
  { suffix: '-shm', isReplaced: true },
  { suffix: '.lock', isReplaced: true },
  { suffix: '.lock', isIdle: true },
];
const IN_SHORT = 3;

fault({
  name: 'the WAL disappears',
  mark: `The server exits within ${ENDS_WITHIN_MS} ms with one clear log line, and acknowledges nothing more. No acknowledged record is lost.`,
  rounds: {
    short: 1,
    full: 5,
    of: 'losses of each kind: WAL, WAL index or lock file; removed or replaced; under load or idle',
  },
  async trial({ rounds, isFull, random, startServer }) {
    let acknowledged = 0;
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      for (const loss of isFull ? LOSSES : LOSSES.slice(0, IN_SHORT)) times.push(await bestOf(loss));
    }
    const [worst] = times.sort((a, b) => b - a);
    return `${times.length} losses, each server exited within ${worst} ms; ${acknowledged} acknowledged, 0 lost`;

    async function bestOf(loss: Loss): Promise<number> {
      const tooLate: number[] = [];
      while (tooLate.length < TRIES) {
        const endedMs = await lose(loss);
        if (endedMs <= ENDS_WITHIN_MS) return endedMs;
        tooLate.push(endedMs);
      }
      return assert.fail(`without ${loss.suffix} the server exits after ${tooLate.join(', ')} ms`);
    }

    /** Returns the milliseconds until the server exits. */
    async function lose({ suffix, isReplaced, isIdle, duringExport }: Loss): Promise<number> {
      const folder = makeFolder();
      const server = await startServer({ folder });
      const file = server.databasePath + suffix;
      const ledger = new Ledger();
      const writing = isIdle ? writeSome(server, ledger) : ledger.write(server, { connections: 8 });
      await (isIdle ? writing : ledger.grows());
      if (isReplaced) {
        copyFileSync(file, `${file}.old`);
        for (let n = 0; n < 20; n++) await ledger.grows();
      }
      if (duringExport) await startExport(server);
      await sleep(random.below(300));
      const ended = once(server.process, 'close');
      const lostMs = performance.now();
      if (isReplaced) renameSync(`${file}.old`, file);
      else rmSync(file);
      if (suffix === '-wal' && !isIdle) {
        const late = await post(server, '{"id":-1,"name":"Plant number -1"}').catch(() => undefined);
        assert.notEqual(late?.status, 200, `a record was acknowledged after the loss of ${suffix}`);
      }
      const [status] = (await Promise.race([ended, sleep(5 * ENDS_WITHIN_MS)])) ?? [undefined];
      const endedMs = Math.round(performance.now() - lostMs);
      if (status === undefined) await server.kill();
      assert.notEqual(status, undefined, `the server continues without ${suffix}${isIdle ? ' while it is idle' : ''}`);
      await writing;
      assert.equal(status, 1);
      assert.equal(server.output().match(LINE)?.length, 1, server.output());
      const next = await startServer({ folder });
      await next.kill();
      ledger.assertKept(next.databasePath);
      acknowledged += ledger.acknowledged.size;
      return endedMs;
    }
  },
  controls: {
    'checks the database file only': {
      changes: [
        ['src/storage/sqlite/writer-thread.ts', 'const ofCommit = [path, wal]', 'const ofCommit = [path]'],
        ['src/storage/sqlite/writer-thread.ts', 'findLost(allFiles)', 'findLost(ofCommit)'],
      ],
      caught: /a record was acknowledged after the loss of -wal/,
    },
    'checks the WAL only at intervals': {
      change: ['src/storage/sqlite/writer-thread.ts', 'const ofCommit = [path, wal]', 'const ofCommit = [path]'],
      caught: /a record was acknowledged after the loss of -wal/,
    },
    'checks the WAL only after a commit': {
      change: [
        'src/storage/sqlite/writer-thread.ts',
        'if (lost !== undefined) endWithout(lost);\n}, CHECK',
        'void lost;\n}, CHECK',
      ],
      caught: /the server continues without -wal while it is idle/,
    },
    'does not save the records of an unlinked WAL': {
      change: ['src/storage/sqlite/writer-thread.ts', 'if (lost.name === wal) {', 'if (hasFailed) {'],
      caught: /acknowledged records are lost|damaged|50300/,
    },
    'leaves another WAL in place of its own': {
      change: [
        'src/storage/sqlite/open-database-files.ts',
        '  const draft =',
        '  if (existsSync(lost.name)) return;\n  const draft =',
      ],
      caught: /acknowledged records are lost|damaged|50300/,
    },
    'waits for its clients to disconnect': {
      change: ['src/cli/serve.ts', 'if (exitStatus !== 0) setTimeout(', 'if (exitStatus > 1) setTimeout('],
      caught: /the server (exits after|continues)/,
    },
  },
});

async function writeSome(server: TestServer, { acknowledged }: Ledger): Promise<void> {
  for (let id = 0n; id < 50n; id++) {
    const name = `Plant number ${id}`;
    assert.equal((await post(server, `{"id":${id},"name":"${name}"}`)).status, 200);
    acknowledged.set(id, name);
  }
}

/** Starts an export and does not read it. The export exceeds the buffers on the way. */
async function startExport(server: TestServer): Promise<void> {
  const padding = 'x'.repeat(10_000);
  const lines = Array.from({ length: 2500 }, (_, n) => `{"id":${-n - 2},"name":"Plant number ${-n - 2} ${padding}"}\n`);
  const headers = { authorization: `Bearer ${server.secret}`, 'content-type': 'application/x-ndjson' };
  const imported = await send(server.port, { method: 'POST', path: '/plants/import', headers, body: lines.join('') });
  assert.equal(imported.status, 200, imported.body);
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(`GET /plants/export HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.secret}\r\n\r\n`);
  await once(socket, 'data');
  socket.pause();
}
