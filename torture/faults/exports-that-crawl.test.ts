// Four clients each read an export at 30 KiB/s while another one imports. On SQLite each export is a snapshot, for which the
// WAL keeps all later changes.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { importFile, send } from '../../testing/request.ts';
import { addToken, type TestServer } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import { fault } from '../fault.ts';

const READER = fileURLToPath(import.meta.resolve('../slow-reader.ts'));
const READERS = 4;
const BYTES_PER_S = 30 * 1024;
const MIB = 1024 * 1024;
const MAX_WAL_BYTES = 200 * MIB;
/** The content of an import takes about three times as many bytes in the WAL. */
const PLANTS = 70;
const NAME = 'x'.repeat(60_000);
/** Imports before the exports start, so that each has more bytes than the system buffers. */
const IMPORTS_BEFORE = 5;

fault({
  name: 'exports that crawl',
  mark: `The WAL stays below ${MAX_WAL_BYTES / MIB} MiB beside ${READERS} slow exports: the server ends them.`,
  rounds: { short: 30, full: 300, of: 'imports of 4 MiB' },
  async trial({ t, rounds, startServer }) {
    const server = await startServer();
    const crawling = { ...server, secret: (await addToken(server.databaseUrl, {})).secret };
    let id = 0;
    const add = async () => {
      const rows = Array.from({ length: PLANTS }, () => `${id++},${NAME}\n`);
      assert.equal((await importFile(server, 'text/csv', `id,name\n${rows.join('')}`)).status, 200);
    };
    for (let n = 0; n < IMPORTS_BEFORE; n++) await add();
    for (let n = 0; n < READERS; n++) {
      const { port, secret } = crawling;
      const reader = spawn(process.execPath, [
        READER,
        JSON.stringify({ port, secret, id: n, bytesPerSecond: BYTES_PER_S }),
      ]);
      t.after(() => reader.kill('SIGKILL'));
    }
    await until(async () => (await exportStatus(crawling)) === 429); // all have their slots

    let longest = 0;
    for (let n = 0; n < rounds; n++) {
      await add();
      const bytes = statSync(`${server.databasePath}-wal`).size;
      longest = Math.max(longest, bytes);
      assert.ok(bytes < MAX_WAL_BYTES, `the WAL has ${(bytes / MIB).toFixed(0)} MiB after ${n + 1} imports`);
    }
    const { body } = await send(server.port, { path: '/plants/export', headers: authorize(server) });
    assert.equal(body.trimEnd().split('\n').length, id, 'an export at full speed was not complete');
    assert.equal(await server.stop(), 0);
    return `the WAL had at most ${(longest / MIB).toFixed(0)} MiB`;
  },
  controls: {},
});

function authorize({ secret }: TestServer): Record<string, string> {
  return { authorization: `Bearer ${secret}` };
}

async function exportStatus(server: TestServer): Promise<number> {
  return (await send(server.port, { method: 'HEAD', path: '/plants/export', headers: authorize(server) })).status;
}
