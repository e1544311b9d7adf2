// Tests of the event stream on the real process: restarts and memory. events.test.ts has the other tests.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { freePort } from '../../../testing/free-port.ts';
import { startProxy } from '../../../testing/proxy.ts';
import { makeFolder, residentKib, startServer } from '../../../testing/server.ts';
import { startTestService } from '../../../testing/service.ts';
import { until } from '../../../testing/until.ts';
import { createClient } from '../../client/client.ts';

const CHANGES = 10_000;

suite('following the change log', { concurrency: true }, () => {
  test('a client follows 10,000 changes across a restart and a dropped connection, without gaps or repeats', async () => {
    const folder = makeFolder();
    const port = await freePort();
    const start = () => startServer({ folder, env: { PORT: String(port) } });
    let server = await start();
    const { secret } = server;
    const proxy = await startProxy(port);
    const follower = createClient({ url: `http://127.0.0.1:${proxy.port}`, token: secret, retries: 1000 });
    const writer = createClient({ url: `http://127.0.0.1:${port}`, token: secret, retries: 1000 });
    const end = new AbortController();
    const seen: { seq: number; id: bigint }[] = [];

    const written = (async () => {
      for (let at = 0; at < CHANGES; at += 250) {
        await writer.import(Array.from({ length: 250 }, (_, n) => ({ id: BigInt(at + n), name: `Plant ${at + n}` })));
        if (at === 2500) proxy.drop();
        if (at === 5000) {
          await server.stop();
          server = await start();
        }
        if (at === 7500) {
          await server.kill();
          server = await start();
        }
      }
    })();
    for await (const { seq, plant } of follower.follow({ after: 0, signal: end.signal })) {
      seen.push({ seq, id: plant.id });
      if (seen.length === CHANGES) setTimeout(() => end.abort(), 300); // a repeated change would arrive late
    }
    await written;
    assert.deepEqual(
      seen,
      Array.from({ length: CHANGES }, (_, n) => ({ seq: n + 1, id: BigInt(n) })),
    );
    assert.ok(proxy.connections >= 4, `${proxy.connections} connections`);
    proxy.close();
    await server.stop();
  });

  test('idle streams use no more memory with every comment line', async () => {
    const server = await startTestService({ timeouts: { eventKeepAliveMs: 10 } });
    const headers = { authorization: `Bearer ${server.secret}`, accept: 'text/event-stream' };
    const streams = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const [response] = (await once(get(`${server.url}/events`, { headers }), 'response')) as [IncomingMessage];
        return response.resume();
      }),
    );
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const heapAfter = async (ms: number) => {
      await sleep(ms);
      collect();
      return process.memoryUsage().heapUsed;
    };
    const before = await heapAfter(3000);
    const grownMib = ((await heapAfter(10_000)) - before) / 2 ** 20;
    for (const stream of streams) stream.destroy();
    assert.ok(grownMib < 4, `the heap grew by ${grownMib.toFixed(1)} MiB`);
    await server.stop();
  });

  test('a stream gets a comment line every 15 s and ends within 3 s when the server stops with exit status 0', async () => {
    const server = await startServer();
    const headers = { authorization: `Bearer ${server.secret}`, accept: 'text/event-stream' };
    const [response] = (await once(get(`${server.url}/events`, { headers }), 'response')) as [IncomingMessage];
    let text = '';
    response.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    await until(() => text === ': changes of Plant Store\n\n', 5000);
    await until(() => text.endsWith(': still here\n\n'), 16_500);
    const ended = once(response, 'end');
    const startMs = performance.now();
    assert.equal(await server.stop(), 0);
    await ended;
    assert.ok(performance.now() - startMs < 3000);
    assert.equal(response.complete, true);
  });

  test('a client that does not read is disconnected and uses no memory until then', async () => {
    const server = await startServer({ env: { ACCESS_LOG: '1' } });
    const client = createClient({ url: server.url, token: server.secret });
    const name = 'x'.repeat(10_000);
    for (let at = 0; at < 3000; at += 500) {
      await client.import(Array.from({ length: 500 }, (_, n) => ({ id: BigInt(at + n), name })));
    }
    const beforeKib = residentKib(server);
    const socket = connect(server.port, '127.0.0.1');
    const headers = `Host: x\r\nAuthorization: Bearer ${server.secret}\r\nX-Request-Id: unread\r\n`;
    socket.write(`GET /events HTTP/1.1\r\n${headers}Accept: text/event-stream\r\n\r\n`);
    socket.pause();
    socket.on('error', () => {});
    await sleep(2000);
    assert.ok(residentKib(server) - beforeKib < 40 * 1024, `${residentKib(server) - beforeKib} KiB more`);
    await until(() => server.output().includes('"requestId":"unread"'));
    socket.resume(); // receives the buffered data, then the end
    await once(socket, 'close');
    assert.ok(socket.bytesRead < 3000 * 10_000, 'not all of it was sent');
    await server.stop();
  });
});
