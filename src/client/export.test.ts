import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  answer,
  begin,
  bodyOf,
  collect,
  drop,
  type Handle,
  quickClient,
  rejects,
  serve,
  serveInTurn,
} from '../../testing/scripted-server.ts';
import { startTestService } from '../../testing/service.ts';
import type { NewPlant } from '../domain/plant.ts';
import { createClient } from './client.ts';

const LINE = '{"id":9007199254740993,"name":"é"}\n';
const PLANT = { id: 9007199254740993n, name: 'é' };

/** Returns the plants of an export whose body arrives in these parts. */
async function exportOf(...parts: Parameters<typeof bodyOf>): Promise<AsyncIterable<NewPlant>> {
  const respond = async () => new Response(bodyOf(...parts), { headers: { etag: '"1"' } });
  return (await quickClient('http://127.0.0.1', { fetch: respond, timeoutMs: 1000 }).export()).plants;
}

const INCOMPLETE =
  'The connection closed before the export was complete. Export again. On SQLite, the server ends exports that take too long beside many writes.';

test('export() retries until the first byte has arrived, and throws if the connection closes later', async () => {
  let disconnect = () => {};
  const untilDropped: Handle = (request) => {
    disconnect = () => drop(request);
  };
  const { url, requests } = await serveInTurn([drop, begin('', drop), begin(`${LINE}${LINE}`, untilDropped)]);
  const cut = await quickClient(url).export();
  assert.equal(requests.length, 3);
  const seen: NewPlant[] = [];
  await rejects(
    (async () => {
      for await (const plant of cut.plants) if (seen.push(plant) === 2) disconnect();
    })(),
    { code: 'unavailable', message: INCOMPLETE },
  );
  assert.deepEqual(seen, [PLANT, PLANT]);
  const short = await quickClient((await serveInTurn([answer(200, LINE.slice(0, 20))])).url).export();
  await rejects(collect(short.plants), { code: 'unavailable' });
});

test('export() joins the chunks of a line, and times out if the next chunk does not arrive', async (t) => {
  const [start, end] = [Buffer.from(LINE).subarray(0, 32), Buffer.from(LINE).subarray(32)]; // in the middle of the é
  assert.deepEqual(await collect(await exportOf(start, end)), [PLANT]);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const stuck = await exportOf(LINE, () => t.mock.timers.tick(1000));
  await rejects(collect(stuck), {
    code: 'unavailable',
    message: 'No response from the plant store: timed out after 1000 ms',
  });
});

test('export() closes the connection when the reader stops', async () => {
  const lines = '{"id":1,"name":"x"}\n'.repeat(10);
  for (const end of ['break', 'close', 'close before', 'abort'] as const) {
    const closed = Promise.withResolvers<void>();
    const url = await serve((request, response) => {
      request.socket.once('close', () => closed.resolve());
      begin(lines)(request, response);
    });
    const abort = new AbortController();
    const { plants, close } = await quickClient(url).export({ signal: abort.signal });
    if (end === 'close before') close();
    let seen = 0;
    const reading = (async () => {
      for await (const _ of plants) {
        if (++seen === 1 && end === 'break') break;
        if (seen === 10) setImmediate(() => (end === 'close' ? close() : abort.abort('enough')));
      }
    })();
    if (end === 'abort') await assert.rejects(reading, (reason) => reason === 'enough');
    else await reading;
    assert.equal(seen, { break: 1, close: 10, 'close before': 0, abort: 10 }[end]);
    await closed.promise;
  }
});

test('An aborted signal ends walk() and export() immediately, even with records already received', async () => {
  const { url, secret } = await startTestService();
  const client = createClient({ url, token: secret });
  await client.import([1n, 2n].map((id) => ({ id, name: 'Monstera', tag: 'aborted' })));
  const readings = [
    (signal: AbortSignal) => client.walk({ tag: 'aborted' }, { signal }),
    async (signal: AbortSignal) => (await client.export({ signal })).plants,
  ];
  for (const read of readings) {
    const abort = new AbortController();
    let seen = 0;
    const reading = async () => {
      for await (const _ of await read(abort.signal)) {
        seen++;
        abort.abort('enough');
      }
    };
    await assert.rejects(reading, (reason) => reason === 'enough');
    assert.equal(seen, 1);
  }
});
