// Tests of import and export: no plant is lost, even if either side disconnects. import-export.long.test.ts tests the
// memory and the response times of the process.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { send } from '../../../testing/request.ts';
import { query } from '../../../testing/server.ts';
import { startTestService } from '../../../testing/service.ts';
import { answerOf, download, importRequest, load } from '../../../testing/transfer.ts';
import { until } from '../../../testing/until.ts';
import { createClient } from '../../client/client.ts';
import { unavailable } from '../../domain/errors.ts';
import type { NewPlant } from '../../domain/plant.ts';
import { ABORTED } from '../../observability/service-events.ts';

const LINES_AT_ONCE = 1000;
const BLOCKS = Number(process.env.TRANSFER_BLOCKS ?? 2);
const ALL_BLOCKS = Array.from({ length: BLOCKS }, (_, block) => block * LINES_AT_ONCE);
const LINES = BLOCKS * LINES_AT_ONCE;

suite('import and export', { concurrency: 2 }, () => {
  test(`an import and export of ${LINES} lines round-trips in both formats`, async () => {
    const server = await startTestService();
    const text = (from: number) =>
      Array.from({ length: LINES_AT_ONCE }, (_, n) => {
        const id = 9223372036854775807n - BigInt(LINES - from - n);
        return `{"id":${id},"name":"Été =${from + n} \\"🌵\\"","tag":"${(from + n) % 7 === 0 ? '' : '@x'}"}\n`;
      }).join('');
    const report = await load(server, 'application/x-ndjson', ALL_BLOCKS.map(text));
    assert.deepEqual(report, { created: LINES, replayed: 0, failed: 0, errors: [] });

    const ndjson = await download(server, 'application/x-ndjson');
    assert.ok(ndjson === ALL_BLOCKS.map(text).join(''), 'the export equals the imported file');
    const csv = await download(server, 'text/csv');
    await server.stop();

    const other = await startTestService();
    assert.equal((await load(other, 'text/csv', [csv])).created, LINES);
    assert.ok((await download(other, 'application/x-ndjson')) === ndjson, 'a copy has the same plants');
    assert.equal((await load(other, 'application/x-ndjson', [ndjson])).replayed, LINES);
    await other.stop();
  });

  test('the server handles /healthz and creates during an import', async () => {
    const server = await startTestService();
    const client = createClient({ url: server.url, token: server.secret, retries: 0 });
    const loaded = load(server, 'application/x-ndjson', ALL_BLOCKS.map(linesFrom));
    let done = false;
    loaded.finally(() => {
      done = true;
    });
    for (let id = -1n; !done; id--) {
      await client.create({ id, name: 'meanwhile' });
      assert.equal((await send(server.port, { path: '/healthz' })).status, 200);
    }
    assert.equal((await loaded).created, LINES);
    await server.stop();
  });

  for (const [cause, error, reported] of [
    ['a bug', new TypeError('broken plant'), 'bug'],
    ['an outage', unavailable('The database is gone.'), 'response_aborted'],
  ] as const) {
    test(`an export that fails midway by ${cause} is cut, and reported as aborted with its cause`, async () => {
      const server = await startTestService();
      server.store.export = async () => ({
        seq: 1,
        plants: failingAfter(5000, error),
        count: async () => 0,
        close() {},
      });
      for (let times = 1; times <= 5; times++) {
        await assert.rejects(download(server, 'text/csv'), /aborted/);
        await until(() => server.events.filter(({ kind }) => kind === 'response').length === times);
      }
      const statuses = server.events.flatMap((event) => (event.kind === 'response' ? [event.status] : []));
      assert.deepEqual(statuses, [ABORTED, ABORTED, ABORTED, ABORTED, ABORTED]); // more than the slots of a token
      const causes = server.events.filter(({ kind }) => kind === reported);
      assert.equal(causes.length, 5);
      assert.match(
        JSON.stringify(causes[0], (_, value) => (value instanceof Error ? value.message : value)),
        new RegExp(error.message),
      );
      await server.stop();
    });
  }

  test('a client that disconnects during an import leaves complete batches, and the server continues', async () => {
    const server = await startTestService();
    const sent = importRequest(server, 'application/x-ndjson');
    sent.on('error', () => {});
    for (let block = 0; block < BLOCKS; block++) {
      if (!sent.write(linesFrom(block * LINES_AT_ONCE))) await once(sent, 'drain');
    }
    sent.destroy();
    await sleep(300);
    const [counts] = query(
      server.databasePath,
      'SELECT (SELECT count(*) FROM plants) AS plants, (SELECT count(*) FROM changes) AS changes',
    );
    assert.equal(counts?.plants, counts?.changes);
    const again = await load(server, 'application/x-ndjson', [...ALL_BLOCKS, LINES].map(linesFrom));
    assert.equal(again.created + again.replayed, LINES + LINES_AT_ONCE);
    assert.equal(again.failed, 0);
    await server.stop();
  });

  test('a server that stalls does not time out its clients', async () => {
    const server = await startTestService({ timeouts: { bodyMs: 1000 } });
    const sent = importRequest(server, 'application/x-ndjson', { expect: '100-continue' });
    sent.flushHeaders();
    await once(sent, 'continue'); // the server waits for the body
    sent.write(linesFrom(0)); // in the buffer of the operating system, unread
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500); // as a laptop that sleeps
    sent.end();
    assert.equal((await answerOf(sent)).created, LINES_AT_ONCE);
    await server.stop();
  });

  test('a stop ends an import with 503, and a second import of the file completes it', async () => {
    const server = await startTestService();
    const sent = importRequest(server, 'application/x-ndjson');
    for (let block = 0; block < BLOCKS; block++) sent.write(linesFrom(block * LINES_AT_ONCE));
    await sleep(300);
    const stopped = server.stop();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    assert.equal(response.statusCode, 503);
    assert.equal(response.headers['retry-after'], '1');
    assert.match((await response.toArray()).join(''), /whole file again/);
    await stopped;
  });

  test('a client that disconnects during an export leaves nothing open', async () => {
    const server = await startTestService();
    const name = 'x'.repeat(60_000); // 6 MB in total, more than the buffers of a connection hold
    const plants = Array.from({ length: 100 }, (_, n) => ({ id: BigInt(n), name }));
    for (let at = 0; at < 100; at += 20) await server.store.import(plants.slice(at, at + 20), { tokenId: 'tok_1' });
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
    assert.equal(count, plants.length);
    await server.stop();
  });

  test('the response lists the first 1,000 invalid lines in order and counts all of them', async () => {
    const server = await startTestService();
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

function linesFrom(first: number): string {
  return Array.from({ length: LINES_AT_ONCE }, (_, n) => `{"id":${first + n},"name":"Plant ${first + n}"}\n`).join('');
}

async function* failingAfter(count: number, error: Error): AsyncGenerator<NewPlant> {
  for (let id = 0n; id < count; id++) yield { id, name: 'x' };
  throw error;
}
