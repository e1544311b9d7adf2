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

/** Says what it is told to whoever connects, byte for byte. */
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

test('any 2xx is delivered, and all else is not', async () => {
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
    assert.equal(outcome.error, delivered ? undefined : `The receiver answered ${code}`);
  }
  assert.equal(receiver.connections(), 1, 'a connection is used again');
});

test('a redirect is not followed', async () => {
  const there = await startReceiver();
  const receiver = await startReceiver((_request, response) => response.writeHead(307, { location: there.url }).end());
  assert.equal((await receiverClient.post(receiver.url, MESSAGE)).code, 307);
  assert.equal(there.connections(), 0);
});

test('of an answer the first 1 KiB is kept, 64 KiB is read at most, and then the connection is cut', async () => {
  let written = 0;
  let isCut = false;
  const receiver = await startReceiver((_request, response) => {
    response.writeHead(200);
    response.on('close', () => {
      isCut = true;
    });
    const block = Buffer.alloc(64 * 1024, 'x');
    const write = (): void => {
      while (!isCut && written < 1e9) {
        written += block.length;
        if (!response.write(block)) return void response.once('drain', write);
      }
    };
    write();
  });
  const outcome = await receiverClient.post(receiver.url, MESSAGE);
  assert.equal(outcome.delivered, true);
  assert.equal(outcome.answer, 'x'.repeat(1024));
  while (!isCut) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.ok(written < 32 * 1024 * 1024, `${written} bytes went into buffers`);
});

test('nothing is decompressed, and what is no text becomes text that can be kept', async () => {
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

test('an answer whose rest never comes counts by its status, after a second', async () => {
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
  ['a connection that is closed', '', /closed the connection without an answer/],
  ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', /Parse Error/],
  ['headers without end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`, /headers of the answer are too long/],
  ['an upgrade', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', /./],
  ['both lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n', /Parse Error/],
] as const) {
  test(`${what} is a failure with words`, async () => {
    const { url } = await startRaw((socket) => socket.end(bytes));
    const outcome = await receiverClient.post(url, MESSAGE);
    assert.equal(outcome.delivered, false);
    assert.match(outcome.error ?? '', error);
  });
}

for (const [what, bytes] of [
  ['a body that breaks off', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegun'],
  ['a bad chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nbegun\r\nzz\r\n'],
  ['more than it said', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nbegun and on'],
  ['a 204 with a body', 'HTTP/1.1 204 No Content\r\n\r\nbegun'],
  ['endless trailers', `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`],
] as const) {
  test(`after a good status ${what} does not matter`, async () => {
    const { url } = await startRaw((socket) => {
      socket.write(bytes);
      setTimeout(() => socket.resetAndDestroy(), 20);
    });
    const outcome = await receiverClient.post(url, MESSAGE);
    assert.deepEqual([outcome.delivered, outcome.error], [true, undefined]);
    assert.ok([200, 204].includes(outcome.code ?? 0));
  });
}

test('a few interim answers are passed over, and endless ones are cut off', async () => {
  const some = await startRaw((socket) =>
    socket.end(`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2)}HTTP/1.1 200 OK\r\n\r\n`),
  );
  assert.equal((await receiverClient.post(some.url, MESSAGE)).code, 200);
  let isCut = false;
  const endless = await startRaw((socket) => {
    const flood = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000)), 5);
    socket.on('close', () => {
      isCut = true;
      clearInterval(flood);
    });
  });
  await quickEnough(1000, async () => {
    isCut = false;
    const { error = '', durationMs } = await receiverClient.post(endless.url, MESSAGE);
    assert.match(error, /no final answer/);
    await until(() => isCut);
    return durationMs;
  });
});

test('who closes a kept connection just when it is used again gets the message on a new one', async () => {
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

test('Retry-After is read in seconds and as a date, up to a day', async () => {
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

test('nothing is connected to where it may not be: by address, by name, or by a name that changes meanwhile', async () => {
  const receiver = await startReceiver();
  const { port } = receiver;
  const loopback = [{ address: '127.0.0.1', family: 4 }];
  let asked = 0;
  const rebinding: Resolve = async () => (asked++ === 0 ? [{ address: '203.0.114.1', family: 4 }] : loopback);
  for (const [host, resolve] of [
    ['127.0.0.1', undefined],
    ['[::ffff:127.0.0.1]', undefined],
    ['2130706433', undefined],
    ['localhost', undefined],
    ['evil.example', async () => loopback],
    ['mixed.example', async () => [{ address: '203.0.114.1', family: 4 }, ...loopback]],
  ] as [string, Resolve | undefined][]) {
    const outcome = await clientWith(false, resolve).post(`https://${host}:${port}/`, MESSAGE);
    assert.match(outcome.error ?? '', /^The URL must not lead /, host);
  }
  const targetGuard = createTargetGuard({ allowPrivate: false, resolve: rebinding });
  await targetGuard.check('https://rebinding.example/');
  const outcome = await createReceiverClient(targetGuard, assert.ifError).post(
    `https://rebinding.example:${port}/`,
    MESSAGE,
  );
  assert.match(outcome.error ?? '', /^The URL must not lead /);
  assert.equal(asked, 2, 'each connection is made to what was just checked');
  assert.equal(receiver.connections(), 0);
});

test('a name is connected to at the address that was checked, and is told its own name', async () => {
  const receiver = await startReceiver();
  const named = clientWith(true, async () => [{ address: '127.0.0.1', family: 4 }]);
  assert.equal((await named.post(`http://shop.example:${receiver.port}/x`, MESSAGE)).delivered, true);
  assert.equal(receiver.received[0]?.headers.host, `shop.example:${receiver.port}`);
});

test('an error that no receiver can cause is reported as a bug, and the attempt has failed', async () => {
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
