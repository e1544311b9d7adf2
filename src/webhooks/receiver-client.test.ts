import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startReceiver } from '../../testing/receiver.ts';
import { quickEnough, until } from '../../testing/until.ts';
import { createReceiverClient, type ReceiverClient } from './receiver-client.ts';
import { createTargetGuard, type Resolve } from './target-guard.ts';

const MESSAGE = { headers: { 'content-length': '2', 'webhook-id': 'msg_1' }, body: '{}' };

function clientWith(allowPrivate: boolean, resolve?: Resolve): ReceiverClient {
  const receiverClient = createReceiverClient(
    createTargetGuard({ allowPrivate, ...(resolve && { resolve }) }),
    assert.ifError,
  );
  after(() => receiverClient.close());
  return receiverClient;
}

const receiverClient = clientWith(true);

/** Starts a TCP server that calls `onConnection` once a client has sent data. */
async function startRaw(onConnection: (socket: Socket) => void): Promise<{ url: string; connections(): number }> {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.on('error', () => {});
    socket.once('data', () => onConnection(socket));
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  after(() => server.close());
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/`, connections: () => connections };
}

test('Every 2xx counts as delivered, and no other status does', async () => {
  const receiver = await startReceiver();
  for (const [code, delivered] of [
    [200, true],
    [201, true],
    [204, true],
    [299, true],
    [300, false],
    [304, false],
    [400, false],
    [404, false],
    [410, false],
    [500, false],
  ] as const) {
    receiver.answer((_request, response) => response.writeHead(code).end());
    const outcome = await receiverClient.post(receiver.url, MESSAGE);
    assert.deepEqual([outcome.delivered, outcome.code], [delivered, code]);
    assert.equal(outcome.error, delivered ? undefined : `The receiver responded with status ${code}`);
  }
  assert.equal(receiver.connections(), 1, 'the connection is reused');
});

test('The client does not follow redirects', async () => {
  const there = await startReceiver();
  const receiver = await startReceiver((_request, response) => response.writeHead(307, { location: there.url }).end());
  assert.equal((await receiverClient.post(receiver.url, MESSAGE)).code, 307);
  assert.equal(there.connections(), 0);
});

test('The client keeps 1 KiB of a response, reads at most 64 KiB, and then closes the connection', async () => {
  let written = 0;
  let isClosed = false;
  const receiver = await startReceiver((_request, response) => {
    response.writeHead(200);
    response.on('close', () => {
      isClosed = true;
    });
    const block = Buffer.alloc(64 * 1024, 'x');
    const write = (): void => {
      while (!isClosed && written < 1e9) {
        written += block.length;
        if (!response.write(block)) return void response.once('drain', write);
      }
    };
    write();
  });
  const outcome = await receiverClient.post(receiver.url, MESSAGE);
  assert.equal(outcome.delivered, true);
  assert.equal(outcome.answer, 'x'.repeat(1024));
  assert.equal(outcome.isTooLong, true);
  while (!isClosed) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.ok(written < 32 * 1024 * 1024, `${written} bytes were buffered`);
});

test('The client decompresses nothing, and converts binary data to text that can be stored', async () => {
  const zipped = gzipSync('x'.repeat(1_000_000));
  const receiver = await startReceiver((_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(zipped),
  );
  const { answer = '' } = await receiverClient.post(receiver.url, MESSAGE);
  assert.ok(answer.length <= 1024 && answer.startsWith('\u001f\uFFFD'), answer.slice(0, 20));
  assert.doesNotMatch(answer, /\0|xxxx/);
  receiver.answer((_request, response) => response.end('é'.repeat(600)));
  assert.equal((await receiverClient.post(receiver.url, MESSAGE)).answer, 'é'.repeat(512));
});

test('If the rest of a response does not arrive within 1 s, the status decides', async () => {
  const receiver = await startReceiver((_request, response) => {
    response.writeHead(200).write('begun');
  });
  await quickEnough(3000, async () => {
    const { delivered, answer, durationMs } = await receiverClient.post(receiver.url, MESSAGE);
    assert.deepEqual([delivered, answer], [true, 'begun']);
    assert.ok(durationMs >= 950, `${durationMs} ms`);
    return durationMs;
  });
});

for (const [what, bytes, error] of [
  ['a closed connection', '', /closed the connection without a response/],
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', /Parse Error/],
  ['overlong headers', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`, /response headers are too long/],
  ['an upgrade', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', /./],
  ['two body lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n', /Parse Error/],
] as const) {
  test(`After ${what} the attempt fails with a description`, async () => {
    const { url } = await startRaw((socket) => socket.end(bytes));
    const outcome = await receiverClient.post(url, MESSAGE);
    assert.equal(outcome.delivered, false);
    assert.match(outcome.error ?? '', error);
  });
}

for (const [what, bytes] of [
  ['an incomplete body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegun'],
  ['a bad chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nbegun\r\nzz\r\n'],
  ['a body longer than announced', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nbegun and on'],
  ['a 204 with a body', 'HTTP/1.1 204 No Content\r\n\r\nbegun'],
  ['endless trailers', `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`],
] as const) {
  test(`After a 2xx status ${what} does not change the result`, async () => {
    const { url } = await startRaw((socket) => {
      socket.write(bytes);
      setTimeout(() => socket.resetAndDestroy(), 20);
    });
    const outcome = await receiverClient.post(url, MESSAGE);
    assert.deepEqual([outcome.delivered, outcome.error], [true, undefined]);
    assert.ok([200, 204].includes(outcome.code ?? 0));
  });
}

test('The client ignores a few interim responses, and disconnects after too many', async () => {
  const some = await startRaw((socket) =>
    socket.end(`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2)}HTTP/1.1 200 OK\r\n\r\n`),
  );
  assert.equal((await receiverClient.post(some.url, MESSAGE)).code, 200);
  let isClosed = false;
  const endless = await startRaw((socket) => {
    const flood = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000)), 5);
    socket.on('close', () => {
      isClosed = true;
      clearInterval(flood);
    });
  });
  await quickEnough(1000, async () => {
    isClosed = false;
    const { error = '', durationMs } = await receiverClient.post(endless.url, MESSAGE);
    assert.match(error, /too many interim responses/);
    await until(() => isClosed);
    return durationMs;
  });
});

test('If the receiver closes a connection as it is reused, the client sends the message on a new one', async () => {
  let requests = 0;
  const { url, connections } = await startRaw((socket) => {
    requests++;
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    socket.once('data', () => socket.destroy());
  });
  assert.equal((await receiverClient.post(url, MESSAGE)).delivered, true);
  assert.equal((await receiverClient.post(url, MESSAGE)).delivered, true);
  assert.deepEqual([requests, connections()], [2, 2]);
});

test('The client reads Retry-After in seconds or as a date, up to 24 hours', async () => {
  const receiver = await startReceiver();
  const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
  for (const [value, min, max] of [
    ['7', 7000, 7000],
    [inAnHour, 3_500_000, 3_600_000],
    ['999999999', 86_400_000, 86_400_000],
  ] as const) {
    receiver.answer((_request, response) => response.writeHead(429, { 'retry-after': value }).end());
    const { retryAfterMs = 0 } = await receiverClient.post(receiver.url, MESSAGE);
    assert.ok(retryAfterMs >= min && retryAfterMs <= max, `${value}: ${retryAfterMs}`);
  }
  for (const value of ['soon', '-5', 'Thu, 01 Jan 1970 00:00:00 GMT']) {
    receiver.answer((_request, response) => response.writeHead(429, { 'retry-after': value }).end());
    assert.equal((await receiverClient.post(receiver.url, MESSAGE)).retryAfterMs, undefined, value);
  }
});

test('The client never connects to a forbidden target: by address, by name, or by DNS rebinding', async () => {
  const receiver = await startReceiver();
  const { port } = receiver;
  const loopback = [{ address: '127.0.0.1', family: 4 }];
  let lookups = 0;
  const rebinding: Resolve = async () => (lookups++ === 0 ? [{ address: '203.0.114.1', family: 4 }] : loopback);
  for (const [host, resolve] of [
    ['127.0.0.1', undefined],
    ['[::ffff:127.0.0.1]', undefined],
    ['2130706433', undefined],
    ['localhost', undefined],
    ['evil.example', async () => loopback],
    ['mixed.example', async () => [{ address: '203.0.114.1', family: 4 }, ...loopback]],
  ] as [string, Resolve | undefined][]) {
    const outcome = await clientWith(false, resolve).post(`https://${host}:${port}/`, MESSAGE);
    assert.match(outcome.error ?? '', /^The URL must not point to /, host);
  }
  const targetGuard = createTargetGuard({ allowPrivate: false, resolve: rebinding });
  await targetGuard.check('https://rebinding.example/');
  const outcome = await createReceiverClient(targetGuard, assert.ifError).post(
    `https://rebinding.example:${port}/`,
    MESSAGE,
  );
  assert.match(outcome.error ?? '', /^The URL must not point to /);
  assert.equal(lookups, 2, 'each connection checks the addresses again');
  assert.equal(receiver.connections(), 0);
});

test('The client connects to the checked address and sends the host name of the URL', async () => {
  const receiver = await startReceiver();
  const named = clientWith(true, async () => [{ address: '127.0.0.1', family: 4 }]);
  assert.equal((await named.post(`http://shop.example:${receiver.port}/x`, MESSAGE)).delivered, true);
  assert.equal(receiver.received[0]?.headers.host, `shop.example:${receiver.port}`);
});

test('An error that no receiver can cause is reported as a bug, and the attempt fails', async () => {
  const bugs: unknown[] = [];
  const resolve = async () => [{ address: 'nonsense', family: 4 }];
  const broken = createReceiverClient(createTargetGuard({ allowPrivate: true, resolve }), (error) => bugs.push(error));
  assert.equal((await broken.post('http://shop.example/', MESSAGE)).delivered, false);
  assert.match(String(bugs), /address/);
});

test('close() aborts the requests in flight', async () => {
  const receiver = await startReceiver(() => {});
  const own = clientWith(true);
  const sent = own.post(receiver.url, MESSAGE);
  await receiver.count(1);
  own.close();
  assert.equal((await sent).delivered, false);
});
