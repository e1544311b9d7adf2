// Files of any length in and out of the real process: memory stays flat, nothing is lost, and either side may go.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage, request } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { send } from '../../../testing/request.ts';
import { addToken, query, residentKib, startServer, type TestServer } from '../../../testing/server.ts';
import { createClient } from '../../client/client.ts';

const LINES_AT_ONCE = 1000;
/** 1000000 takes about two minutes. */
const LINES = Number(process.env.TRANSFER_LINES ?? 30_000);

suite('files in and out', { concurrency: 2 }, () => {
  test(`${LINES} lines go in, come out the same in both formats, and go in again: memory stays flat`, async () => {
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
    assert.ok(ndjson === lines.map(text).join(''), 'the export is what went in');
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

  test('an import answers to /healthz and to creates all along', async () => {
    const server = await startServer();
    const client = createClient({ url: server.url, token: server.secret, retries: 0 });
    const blocks = Array.from({ length: 100 }, (_, block) => linesFrom(block * LINES_AT_ONCE));
    const loaded = load(server, 'application/x-ndjson', blocks);
    let done = false;
    loaded.finally(() => {
      done = true;
    });
    for (let id = -1n; !done; id--) {
      await client.create({ id, name: 'meanwhile' });
      assert.equal((await send(server.port, { path: '/healthz' })).status, 200);
    }
    assert.equal((await loaded).created, 100 * LINES_AT_ONCE);
    await server.stop();
  });

  test('what is sent faster than it can be stored waits at the sender', async () => {
    const server = await startServer();
    const beforeKib = residentKib(server);
    const lock = new DatabaseSync(server.databasePath, { timeout: 5000 });
    lock.exec('BEGIN IMMEDIATE'); // from now on nothing can be stored
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
    assert.ok(writtenMib < 60, `${writtenMib} MiB were taken`);
    assert.ok(grownMib < 150, `${grownMib} MiB more`);
    await all;
    assert.equal((await answerOf(sent)).created, 10_000);
    await server.stop();
  });

  test('a client that goes in the middle of an import leaves whole batches, and the server goes on', async () => {
    const server = await startServer();
    const sent = importRequest(server, 'application/x-ndjson');
    sent.on('error', () => {});
    for (let block = 0; block < 30; block++) {
      if (!sent.write(linesFrom(block * LINES_AT_ONCE))) await once(sent, 'drain');
    }
    sent.destroy();
    await sleep(300);
    const [counts] = query(
      server.databasePath,
      'SELECT (SELECT count(*) FROM plants) AS plants, (SELECT count(*) FROM changes) AS changes',
    );
    assert.equal(counts?.plants, counts?.changes);
    const again = await load(
      server,
      'application/x-ndjson',
      Array.from({ length: 31 }, (_, block) => linesFrom(block * LINES_AT_ONCE)),
    );
    assert.equal(again.created + again.replayed, 31_000);
    assert.equal(again.failed, 0);
    assert.equal(await server.stop(), 0);
  });

  test('a server that stood still itself does not hold that against who sends', async () => {
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

  test('a server that stops ends an import with 503, and the same file again finishes it', async () => {
    const server = await startServer();
    const sent = importRequest(server, 'application/x-ndjson');
    for (let block = 0; block < 20; block++) sent.write(linesFrom(block * LINES_AT_ONCE));
    await sleep(300);
    const stopped = server.stop();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    assert.equal(response.statusCode, 503);
    assert.equal(response.headers['retry-after'], '1');
    assert.match((await response.toArray()).join(''), /send the whole file again/);
    assert.equal(await stopped, 0);
  });

  test('a client that goes in the middle of an export ends it: nothing is left open', async () => {
    const server = await startServer();
    for (let block = 0; block < 50; block++)
      await load(server, 'application/x-ndjson', [linesFrom(block * LINES_AT_ONCE)]);
    const client = createClient({ url: server.url, token: server.secret });
    for (let n = 0; n < 40; n++) {
      const headers = { authorization: `Bearer ${server.secret}` };
      const sent = get({ host: '127.0.0.1', port: server.port, path: '/plants/export', headers, agent: false });
      sent.on('error', () => {});
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      assert.equal(response.statusCode, 200, 'no more than 16 are open at once');
      response.on('error', () => {});
      await once(response, 'data');
      sent.destroy();
      await sleep(10);
    }
    let count = 0;
    for await (const _ of (await client.export()).plants) count++;
    assert.equal(count, 50_000);
    assert.equal(await server.stop(), 0);
  });

  test('imports of long texts, many at once, all get through, and leave no trace in later ones', async () => {
    const server = await startServer();
    const names = ['\ufdfa'.repeat(20_000), 'x'.repeat(60_000)]; // the first one folds to 18 times its length
    const block = (name: string, first: number) =>
      Array.from({ length: 24 }, (_, n) => `{"id":${first + n},"name":"${name}"}\n`).join('');
    const { secret } = await addToken(server.databaseUrl, {});
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, n) => {
        const own = n < 4 ? server : { ...server, secret }; // 4 of each token
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

  test('an import of short lines, in tiny pieces or all of them bad, holds nobody up', async () => {
    const server = await startServer();
    const longestMs: number[] = [];
    // What holds others up does so each time; a machine that is busy with other tests does not.
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

  test('an answer names the first 1,000 bad lines, in the order of lines, and counts all', async () => {
    const server = await startServer();
    const bad = Array.from({ length: 3000 }, (_, n) => (n % 2 === 0 ? `{"id":${n}}\n` : `{"id":1,"name":"${n}"}\n`));
    const report = await load(server, 'application/x-ndjson', [bad.join('')]);
    assert.deepEqual([report.created, report.replayed, report.failed, report.errors.length], [1, 0, 2999, 1000]);
    assert.deepEqual(
      report.errors.map(({ line }) => line),
      Array.from({ length: 1001 }, (_, n) => n + 1).filter((line) => line !== 2),
    );
    await server.stop();
  });
});

interface Report {
  created: number;
  replayed: number;
  failed: number;
  errors: { line: number; error: number; message: string }[];
}

function linesFrom(first: number): string {
  return Array.from({ length: LINES_AT_ONCE }, (_, n) => `{"id":${first + n},"name":"Plant ${first + n}"}\n`).join('');
}

/** Of those who ask for their health meanwhile. */
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

function importRequest({ port, secret }: TestServer, type: string) {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': type };
  return request({ host: '127.0.0.1', port, method: 'POST', path: '/plants/import', headers, agent: false });
}

async function load(server: TestServer, type: string, blocks: string[]): Promise<Report> {
  const sent = importRequest(server, type);
  for (const block of blocks) if (!sent.write(Buffer.from(block))) await once(sent, 'drain'); // of a string it may never come
  sent.end();
  return answerOf(sent);
}

async function answerOf(sent: ReturnType<typeof request>): Promise<Report> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = Buffer.concat(await response.toArray()).toString();
  assert.equal(response.statusCode, 200, body.slice(0, 300));
  return JSON.parse(body);
}

async function download({ port, secret }: TestServer, accept: string): Promise<string> {
  const answer = await send(port, { path: '/plants/export', headers: { authorization: `Bearer ${secret}`, accept } });
  assert.equal(answer.status, 200);
  return answer.body;
}
