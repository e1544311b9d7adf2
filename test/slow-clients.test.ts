// Clients that send or read too slowly are cut off, and nobody else notices. All of them at the same time.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fillIn, post, sendRaw } from './request.ts';
import { residentKib, startServer, type TestServer } from './server.ts';

let server: TestServer;
before(async () => {
  server = await startServer();
});
after(() => server.stop());

suite('slow clients', { concurrency: true }, () => {
  test('cuts off clients that are too slow: 408', { timeout: 60_000 }, async () => {
    const startMs = performance.now();
    const seconds = (answer: Promise<string>) =>
      answer.then((text) => ({ text, after: (performance.now() - startMs) / 1000 }));
    const [nothing, headers, body] = await Promise.all([
      seconds(sendRaw(server.port, '', 50_000)),
      seconds(sendRaw(server.port, 'POST /plants HTTP/1.1\r\nHost: x\r\n', 50_000)),
      seconds(
        sendRaw(
          server.port,
          fillIn(server.secret, 'POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length: 30\r\n\r\n{'),
          50_000,
        ),
      ),
      drip(),
    ]);
    for (const { text, after } of [nothing, headers]) {
      assert.match(text, /^HTTP\/1.1 408 .*"error":40800/s);
      assert.ok(after > 9 && after < 15, `headers were given ${after} s`);
    }
    assert.match(body.text, /^HTTP\/1.1 408 .*"error":40800/s);
    assert.ok(body.after > 29 && body.after < 35, `a request was given ${body.after} s`);
    assert.equal((await post(server, '{"id":902,"name":"x"}')).status, 200);
    assert.doesNotMatch(server.output(), /"level":"(error|fatal)"/);
  });

  test('cuts off a client that asks and never reads, and takes no memory for it', { timeout: 60_000 }, async () => {
    const before = residentKib(server);
    const cut = Array.from({ length: 10 }, async () => {
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.pause();
      socket.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(5000));
      await setTimeout(18_000);
      socket.resume();
      const startMs = performance.now();
      await new Promise((resolve) => socket.on('close', resolve));
      return performance.now() - startMs;
    });
    await setTimeout(2000);
    assert.ok(residentKib(server) - before < 256 * 1024, `it took ${(residentKib(server) - before) / 1024} MiB`);
    for (const afterMs of await Promise.all(cut)) assert.ok(afterMs < 2000, 'it was not cut off before');
    assert.equal((await post(server, '{"id":907,"name":"x"}')).status, 200);
  });
});

/** A header every second: sending something must not make the time longer. */
async function drip(): Promise<void> {
  const startMs = performance.now();
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('POST /plants HTTP/1.1\r\nHost: x\r\n');
  while (!socket.destroyed && !socket.readableEnded && performance.now() - startMs < 20_000) {
    socket.write('X-A: b\r\n');
    await setTimeout(1000);
    socket.read();
  }
  assert.ok(performance.now() - startMs < 16_000);
}
