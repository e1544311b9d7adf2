// Tests the client's timeouts with real time and real connections.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  begin,
  collect,
  type Handle,
  hang,
  quickClient,
  RECORD,
  rejects,
  serveInTurn,
} from '../../testing/scripted-server.ts';

test('A request times out, and its connection closes, if the response does not arrive or does not end', async () => {
  const { url, requests } = await serveInTurn([hang, begin(RECORD.slice(0, 20))]);
  const startMs = performance.now();
  const error = await rejects(quickClient(url, { timeoutMs: 1000, retries: 1 }).get(5n), { code: 'unavailable' });
  const tookMs = performance.now() - startMs;
  assert.ok(tookMs > 1900 && tookMs < 10_000, `${tookMs} ms for two attempts`);
  assert.equal((error.cause as Error).name, 'TimeoutError');
  assert.equal(requests.length, 2);
  // once() would reject if the operating system resets the connection instead of closing it.
  for (const { socket } of requests) socket.destroyed || (await new Promise((resolve) => socket.on('close', resolve)));
  await rejects(quickClient(url, { retries: 0 }).get(5n, { timeoutMs: 40 }), {
    code: 'unavailable',
    message: 'No response from the plant store: timed out after 40 ms',
  });
});

test('export() times out if the next chunk does not arrive', async () => {
  const { url } = await serveInTurn([begin('{"id":1,"name":"x"}\n')]);
  const stuck = await quickClient(url, { timeoutMs: 500 }).export();
  await rejects(collect(stuck.plants), {
    code: 'unavailable',
    message: 'No response from the plant store: timed out after 500 ms',
  });
});

test('follow() reconnects after silenceMs without data, or after a timeout without a response', async () => {
  const { url, requests } = await serveInTurn([
    hang,
    stream([event(1)]),
    stream([]),
    stream([': still here\r\n\r\n', event(2)]),
  ]);
  const sleeps: number[] = [];
  const changes = await collect(quickClient(url, { silenceMs: 1000, timeoutMs: 1000 }, sleeps).follow(), 2);
  assert.deepEqual(
    changes.map(({ seq }) => seq),
    [1, 2],
  );
  assert.deepEqual(
    requests.map(({ headers }) => headers['last-event-id']),
    [undefined, undefined, '1', '1'],
  );
  assert.deepEqual(sleeps, [100, 100, 200]);
});

/** Sends an event stream that does not end. */
function stream(parts: string[]): Handle {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    for (const part of parts) response.write(part);
  };
}

function event(seq: number): string {
  const plant = '{"id":1,"name":"x"}';
  const data = `{"seq":${seq},"type":"plant.created","time":"2026-01-01T00:00:00.000Z","plant":${plant},"token":"t"}`;
  return `id: ${seq}\nevent: plant.created\ndata: ${data}\n\n`;
}
