// Tests of large imports and exports on the real process: memory stays flat and other requests are not blocked.
// It also runs import-export.test.ts with more lines.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { DatabaseSync } from 'node:sqlite';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { send } from '../../../testing/request.ts';
import { addToken, residentKib, startServer, type TestServer } from '../../../testing/server.ts';
import { answerOf, download, importRequest, load } from '../../../testing/transfer.ts';

process.env.TRANSFER_BLOCKS = '30';
await import('./import-export.test.ts');

const LINES_AT_ONCE = 1000;
/** 1000000 takes about two minutes. */
const LINES = Number(process.env.TRANSFER_LINES ?? 30_000);

suite('import and export on a process', { concurrency: 2 }, () => {
  test(`an import and export of ${LINES} lines round-trips in both formats with flat memory`, async () => {
    const server = await startServer();
    const lines = Array.from({ length: LINES / LINES_AT_ONCE }, (_, block) => block * LINES_AT_ONCE);
    const text = (from: number) =>
      Array.from({ length: LINES_AT_ONCE }, (_, n) => {
        const id = 9223372036854775807n - BigInt(LINES - from - n);
        return `{"id":${id},"name":"Été =${from + n} \\"🌵\\"","tag":"${(from + n) % 7 === 0 ? '' : '@x'}"}\n`;
      }).join('');
    let mostKib = 0;
    const timer = setInterval(() => {
      mostKib = Math.max(mostKib, residentKib(server));
    }, 50);
    const report = await load(server, 'application/x-ndjson', lines.map(text));
    assert.deepEqual(report, { created: LINES, replayed: 0, failed: 0, errors: [] });

    const ndjson = await download(server, 'application/x-ndjson');
    assert.ok(ndjson === lines.map(text).join(''), 'the export equals the imported file');
    const csv = await download(server, 'text/csv');
    clearInterval(timer);
    assert.ok(mostKib < 256 * 1024, `${mostKib} KiB`);
    await server.stop();

    const other = await startServer();
    assert.equal((await load(other, 'text/csv', [csv])).created, LINES);
    assert.ok((await download(other, 'application/x-ndjson')) === ndjson, 'a copy has the same plants');
    assert.equal((await load(other, 'application/x-ndjson', [ndjson])).replayed, LINES);
    await other.stop();
  });

  test('backpressure stops a client that sends faster than the store can write', async () => {
    const server = await startServer();
    const beforeKib = residentKib(server);
    const lock = new DatabaseSync(server.databasePath, { timeout: 5000 });
    lock.exec('BEGIN IMMEDIATE'); // blocks all writes from now on
    const sent = importRequest(server, 'application/x-ndjson');
    const name = 'x'.repeat(10_000);
    let written = 0;
    const all = (async () => {
      for (; written < 10_000; written++) {
        if (!sent.write(`{"id":${written},"name":"${name}"}\n`)) await once(sent, 'drain');
      }
      sent.end();
    })();
    await sleep(2000);
    const writtenMib = (written * name.length) / 1024 / 1024;
    const grownMib = (residentKib(server) - beforeKib) / 1024;
    lock.exec('ROLLBACK');
    lock.close();
    assert.ok(writtenMib < 60, `the server accepted ${writtenMib} MiB`);
    assert.ok(grownMib < 150, `${grownMib} MiB more`);
    await all;
    assert.equal((await answerOf(sent)).created, 10_000);
    await server.stop();
  });

  test('a suspended process does not time out its clients when it resumes', async () => {
    const server = await startServer();
    const sent = importRequest(server, 'application/x-ndjson');
    sent.write(linesFrom(0));
    await sleep(500);
    server.process.kill('SIGSTOP'); // as a laptop that sleeps
    sent.write(linesFrom(LINES_AT_ONCE));
    await sleep(13_000);
    server.process.kill('SIGCONT');
    sent.end();
    assert.equal((await answerOf(sent)).created, 2 * LINES_AT_ONCE);
    await server.stop();
  });

  test('many concurrent imports of long texts succeed and do not affect later imports', async () => {
    const server = await startServer();
    const names = ['\ufdfa'.repeat(20_000), 'x'.repeat(60_000)]; // the first name folds to 18 times its length
    const block = (name: string, first: number) =>
      Array.from({ length: 24 }, (_, n) => `{"id":${first + n},"name":"${name}"}\n`).join('');
    const { secret } = await addToken(server.databaseUrl, {});
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, n) => {
        const own = n < 4 ? server : { ...server, secret }; // four imports per token
        return load(own, 'application/x-ndjson', [block(names[n % 2] ?? '', n * 100)]);
      }),
    );
    assert.deepEqual(
      all.map(({ created, failed }) => [created, failed]),
      Array(8).fill([24, 0]),
    );
    assert.equal((await load(server, 'application/x-ndjson', ['{"id":-1,"name":"small"}\n'])).created, 1);
    await server.stop();
  });

  test('an import of short lines, in tiny chunks or all invalid, does not block other requests', async () => {
    const server = await startServer();
    const longestMs: number[] = [];
    // Real blocking occurs in every round, unlike delays from a machine that is busy with other tests.
    while (longestMs.length < 5 && !longestMs.some((ms) => ms < 1000)) {
      longestMs.push(
        await longestWaitMs(server, async () => {
          assert.equal((await load(server, 'application/x-ndjson', ['x\n'.repeat(100_000)])).failed, 100_000);
          assert.equal((await load(server, 'text/csv', ['id,name\n', ...Array(20_000).fill('1,')])).failed, 1);
        }),
      );
    }
    assert.ok(Math.min(...longestMs) < 1000, `${longestMs} ms`);
    await server.stop();
  });
});

function linesFrom(first: number): string {
  return Array.from({ length: LINES_AT_ONCE }, (_, n) => `{"id":${first + n},"name":"Plant ${first + n}"}\n`).join('');
}

/** Returns the longest response time of the health checks that run during `work`. */
async function longestWaitMs({ port }: TestServer, work: () => Promise<void>): Promise<number> {
  let longestMs = 0;
  let isDone = false;
  const asking = (async () => {
    while (!isDone) {
      const startMs = performance.now();
      await send(port, { path: '/healthz' });
      longestMs = Math.max(longestMs, performance.now() - startMs);
      await sleep(5);
    }
  })();
  await work();
  isDone = true;
  await asking;
  return longestMs;
}
