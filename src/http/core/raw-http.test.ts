// Tests with the raw bytes of broken or hostile clients. Each gets one Error, and the server closes the connection.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fillIn, post, sendRaw } from '../../../testing/request.ts';
import { query } from '../../../testing/server.ts';
import { startTestService, type TestService } from '../../../testing/service.ts';
import { WRONG } from '../access/rate-limit.ts';

let server: TestService;
before(async () => {
  server = await startTestService();
});
after(() => server.stop());

const BODY = '{"id":900,"name":"x"}';
const LENGTH = `Content-Length: ${BODY.length}\r\n`;

/** HOST, AUTH and TYPE are placeholders for valid headers. */
const REFUSED: [name: string, bytes: string, status: number, error: number][] = [
  ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', 400, 40000],
  ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 40000],
  ['a lower-case method', 'get /healthz HTTP/1.1\r\nHOST \r\n', 400, 40000],
  ['a path of 64 KiB', `GET /${'a'.repeat(65_536)} HTTP/1.1\r\nHOST \r\n`, 431, 43100],
  ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nHOST \r\n', 404, 40400],
  [
    'a whole URL below /plants without credentials',
    'GET http://x/plants/a/b HTTP/1.1\r\nHOST Connection: close\r\n\r\n',
    401,
    40101,
  ],
  ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHOST Connection: close\r\n\r\n', 404, 40400],
];

for (const [name, bytes, status, error] of REFUSED) {
  test(`rejects ${name}`, async () => {
    const [answer, ...more] = split(await sendRaw(server.port, fillIn(server.secret, bytes)));
    assert.deepEqual(more, [], 'more than one response');
    assert.ok(answer);
    assert.equal(answer.status, status);
    assert.equal(JSON.parse(answer.body).error, error);
    assert.match(answer.head, /^connection: close$/im);
    assert.match(answer.head, /^content-type: application\/json\r?$/im);
    assert.match(answer.head, /^cache-control: no-store$/im);
    assert.match(answer.head, /^x-request-id: \S+$/im);
  });
}

test('treats a create without a length and an encoding as one with an empty body', async () => {
  const create = 'POST /plants HTTP/1.1\r\nHOST AUTH TYPE \r\n';
  const last = 'GET /healthz HTTP/1.1\r\nHOST Connection: close\r\n\r\n';
  const answers = split(await sendRaw(server.port, fillIn(server.secret, `${create}${last}`)));
  assert.deepEqual(
    answers.map(({ status, body }) => [status, JSON.parse(body).error]),
    [
      [400, 40001],
      [200, undefined],
    ],
  );
});

test('responds to valid requests before it rejects the bytes that follow them', async () => {
  const first = `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length: 21\r\n\r\n{"id":901,"name":"x"}`;
  const answers = split(
    await sendRaw(server.port, fillIn(server.secret, `${first}GET /healthz HTTP/1.1\r\nHOST \r\nGARBAGE\r\n\r\n`)),
  );
  assert.deepEqual(
    answers.map(({ status, body }) => [status, JSON.parse(body).error]),
    [
      [200, undefined],
      [200, undefined],
      [400, 40000],
    ],
  );
});

const CLOSED_ON: [name: string, bytes: string][] = [
  ['two Hosts', 'GET /healthz HTTP/1.1\r\nHOST HOST \r\n'],
  ['no Host', 'GET /healthz HTTP/1.1\r\n\r\n'],
  ['two Authorizations', 'GET /healthz HTTP/1.1\r\nHOST AUTH AUTH \r\n'],
  ['two Content-Types', `POST /plants HTTP/1.1\r\nHOST AUTH TYPE TYPE ${LENGTH}\r\n${BODY}`],
  [
    'a body that is too long',
    `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length: 70000\r\n\r\n${'x'.repeat(70_000)}`,
  ],
  [
    'a chunked body that is too long',
    `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Transfer-Encoding: chunked\r\n\r\n11170\r\n${'x'.repeat(70_000)}\r\n0\r\n\r\n`,
  ],
  ['a chunked body without credentials', 'POST /plants HTTP/1.1\r\nHOST TYPE Transfer-Encoding: chunked\r\n\r\n'],
  [
    '100-continue without credentials',
    'POST /plants HTTP/1.1\r\nHOST TYPE Expect: 100-continue\r\nContent-Length: 21\r\n\r\n',
  ],
];

for (const [at, [name, bytes]] of CLOSED_ON.entries()) {
  test(`after ${name}, later requests on the connection have no effect, whether sent immediately or with a delay`, async () => {
    for (const [isLater, id] of [910 + at * 2, 911 + at * 2].entries()) {
      const next = `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length: 21\r\n\r\n{"id":${id},"name":"x"}`;
      const socket = connect(server.port, '127.0.0.1');
      const received = text(socket);
      socket.on('error', () => {});
      socket.write(fillIn(server.secret, bytes));
      if (isLater) await setTimeout(100);
      socket.write(fillIn(server.secret, next));
      const [answer, ...more] = split(await received.catch(() => ''));
      assert.deepEqual(more, []);
      assert.ok((answer?.status ?? 0) >= 400);
      assert.match(answer?.head ?? '', /^connection: close$/im);
      assert.deepEqual(query(server.databasePath, `SELECT * FROM plants WHERE id = ${id}`), []);
    }
  });
}

test('valid requests sent together with one that closes the connection get their responses first', async () => {
  for (const [at, [name, bytes]] of CLOSED_ON.entries()) {
    const good = [950 + at * 2, 951 + at * 2].map(
      (id) => `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length: 21\r\n\r\n{"id":${id},"name":"x"}`,
    );
    const answers = split(await sendRaw(server.port, fillIn(server.secret, good.join('') + bytes)));
    assert.deepEqual(
      answers.map(({ status }) => (status < 400 ? status : 'refused')),
      [200, 200, 'refused'],
      name,
    );
  }
});

test('a fault in the rest of a request that already has its response causes no second response', async () => {
  for (const [head, rest] of [
    [`POST /plants HTTP/1.1\r\nHOST TYPE Content-Length: 100\r\n\r\nabc`, ''],
    [`GET /healthz HTTP/1.1\r\nHOST Content-Length: 100\r\n\r\nabc`, ''],
    [`POST /plants HTTP/1.1\r\nHOST TYPE Transfer-Encoding: chunked\r\n\r\n`, 'zz\r\n'],
  ] as const) {
    const socket = connect(server.port, '127.0.0.1');
    const received = text(socket);
    socket.write(fillIn(server.secret, head));
    await setTimeout(200);
    socket.end(rest);
    assert.equal(split(await received).length, 1);
  }
});

test('a client that ends its half of the connection still gets its response', async () => {
  const socket = connect(server.port, '127.0.0.1');
  const received = text(socket);
  socket.end(
    fillIn(server.secret, `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length: 21\r\n\r\n{"id":904,"name":"x"}`),
  );
  assert.match(await received, /^HTTP\/1.1 200 .*\{"name":"x"\}$/s);
  const half = connect(server.port, '127.0.0.1');
  const refusal = text(half);
  half.end(fillIn(server.secret, 'POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length: 21\r\n\r\n{"id":905'));
  assert.match(await refusal, /^HTTP\/1.1 400 /);
});

test('sends 100 Continue only if the body will be read', async () => {
  const head = `POST /plants HTTP/1.1\r\nHOST TYPE Expect: 100-continue\r\n`;
  assert.match(
    await sendRaw(server.port, fillIn(server.secret, `${head}Content-Length: 21\r\n\r\n`)),
    /^HTTP\/1.1 401 /,
  );
  assert.match(
    await sendRaw(server.port, fillIn(server.secret, `${head}AUTH Content-Length: 70000\r\n\r\n`)),
    /^HTTP\/1.1 413 /,
  );
  const answer = await sendRaw(
    server.port,
    fillIn(server.secret, `${head}AUTH Connection: close\r\nContent-Length: 21\r\n\r\n{"id":903,"name":"x"}`),
  );
  assert.match(answer, /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 /);
});

test('if the server sends no 100 Continue, bytes after its response have no effect', async () => {
  const behind = `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length: 21\r\n\r\n{"id":907,"name":"x"}`;
  for (const [first, status] of [
    ['GET /healthz HTTP/1.1\r\nHOST Expect: 100-continue\r\n\r\n', 200],
    ['GET /healthz HTTP/1.1\r\nHOST Expect: x, 100-Continue\r\n\r\n', 200],
    ['POST /plants HTTP/1.1\r\nHOST TYPE Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}', 401],
  ] as const) {
    for (const before of ['', 'GET /plants/907 HTTP/1.1\r\nHOST AUTH \r\n']) {
      const answers = split(await sendRaw(server.port, fillIn(server.secret, before + first + behind)));
      assert.deepEqual(
        answers.map((answer) => [answer.status, /^connection: close$/im.test(answer.head)]),
        [...(before ? [[404, false]] : []), [status, true]],
        first,
      );
      assert.deepEqual(query(server.databasePath, 'SELECT id FROM plants WHERE id = 907'), [], first);
    }
  }
});

test('if the server sends no 100 Continue, a create has no effect while the rejection before it is delayed', async () => {
  const wrong = 'POST /plants HTTP/1.1\r\nHOST TYPE Authorization: Bearer wrong\r\n';
  const first = `${`${wrong}\r\n`.repeat(WRONG.count + 10)}${wrong}Expect: 100-continue\r\n\r\n`;
  const behind = `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length: 21\r\n\r\n{"id":908,"name":"x"}`;
  const answers = split(await sendRaw(server.port, fillIn(server.secret, first + behind)));
  assert.ok(answers.some(({ status }) => status === 429));
  assert.match(answers.at(-1)?.head ?? '', /^connection: close$/im);
  assert.deepEqual(query(server.databasePath, 'SELECT id FROM plants WHERE id = 908'), []);
});

test('responds to a create before it rejects the CONNECT that follows', async () => {
  const create = `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length: 21\r\n\r\n{"id":906,"name":"x"}`;
  const answers = split(
    await sendRaw(server.port, fillIn(server.secret, `${create}CONNECT a:1 HTTP/1.1\r\nHOST \r\n`)),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 404],
  );
});

test('survives a client that sends a CONNECT during a response, and then resets the connection', async () => {
  const follow = 'GET /events HTTP/1.1\r\nHOST AUTH Accept: text/event-stream\r\n\r\n';
  const client = connect(server.port, '127.0.0.1');
  client.write(fillIn(server.secret, `${follow}CONNECT a:1 HTTP/1.1\r\nHOST \r\n`));
  await once(client, 'data'); // the stream has started
  client.resetAndDestroy();
  const create = 'POST /plants HTTP/1.1\r\nHOST AUTH TYPE Connection: close\r\nContent-Length: 21\r\n\r\n';
  const answers = split(await sendRaw(server.port, fillIn(server.secret, `${create}{"id":907,"name":"x"}`)));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200],
  );
});

test('bodies queued behind long responses leave room for the body of a token that must be looked up', async () => {
  const own = await startTestService();
  const body = 'x'.repeat(60_000);
  const follow = 'GET /events HTTP/1.1\r\nHOST AUTH Accept: text/event-stream\r\n\r\n';
  const queued = `POST /plants HTTP/1.1\r\nHOST TYPE Content-Length: ${body.length}\r\n\r\n${body}`;
  const clients = await Promise.all(
    Array.from({ length: 300 }, async () => {
      const client = connect(own.port, '127.0.0.1').on('error', () => {});
      client.write(fillIn(own.secret, follow + queued));
      await once(client, 'data');
      return client;
    }),
  );
  const { secret } = await own.addToken();
  const { status } = await post({ port: own.port, secret }, `{"id":1,"name":"${body}"}`);
  for (const client of clients) client.destroy();
  assert.equal(status, 200);
});

test('a read after a create sees its plant, and creates run concurrently with responses in order', async () => {
  const creates = [930, 931, 932].map(
    (id) => `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length: 21\r\n\r\n{"id":${id},"name":"x"}`,
  );
  const read = 'GET /plants/932 HTTP/1.1\r\nHOST AUTH \r\n';
  const remove = 'DELETE /plants/932 HTTP/1.1\r\nHOST AUTH Connection: close\r\n\r\n';
  const answers = split(
    await sendRaw(server.port, fillIn(server.secret, `${creates.join('')}${read}${creates[2]}${read}${remove}`)),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200, 200, 200, 204],
  );
  assert.match(answers[3]?.body ?? '', /"id":932/);
  assert.match(answers[4]?.head ?? '', /^idempotent-replayed: true$/im);
});

test('bodies that arrive in small pieces after other requests are read completely', async () => {
  const body = `{"id":935,"name":"${'x'.repeat(50_000)}"}`;
  const head = `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Connection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
  const socket = connect(server.port, '127.0.0.1');
  const received = text(socket);
  socket.write(fillIn(server.secret, `${'GET /plants HTTP/1.1\r\nHOST AUTH \r\n'.repeat(40)}${head}`));
  for (let at = 0; at < body.length; at += 10_000) {
    socket.write(body.slice(at, at + 10_000));
    await setTimeout(20);
  }
  const answers = split(await received);
  assert.equal(answers.length, 41);
  assert.ok(answers.every(({ status }) => status === 200));
  assert.equal(query(server.databasePath, 'SELECT id FROM plants WHERE id = 935').length, 1);
});

test('an import after other requests is read completely', async () => {
  const rows = Array.from({ length: 2000 }, (_, n) => `${20_000 + n},${'x'.repeat(100)}\n`).join('');
  const body = `id,name\n${rows}`;
  const head = `POST /plants/import HTTP/1.1\r\nHOST AUTH Content-Type: text/csv\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
  const read = 'GET /plants?limit=1 HTTP/1.1\r\nHOST AUTH \r\n';
  const answers = split(await sendRaw(server.port, fillIn(server.secret, `${read}${read}${head}${body}`)));
  assert.equal(answers.length, 3);
  assert.match(answers[2]?.body ?? '', /"created":2000,/);
});

test('responds to the first thousand of too many pipelined requests, then closes the connection with an error', async () => {
  const create = `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length: 21\r\n\r\n{"id":936,"name":"x"}`;
  const tiny = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2000);
  const answers = split(await sendRaw(server.port, fillIn(server.secret, create + tiny)));
  const refusal = answers.pop();
  assert.equal(answers[0]?.status, 200);
  assert.ok(answers.length >= 1024 && answers.length < 1100, `${answers.length} responses`);
  assert.match(refusal?.body ?? '', /"error":50300,"message":"Too many requests/);
  assert.match(refusal?.head ?? '', /^connection: close$/im);
});

test('a request for a protocol upgrade is the last request of its connection', async () => {
  const behind = `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length: 21\r\n\r\n{"id":937,"name":"x"}`;
  for (const first of [
    'GET /healthz HTTP/1.1\r\nHOST Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
    'GET /plants HTTP/1.1\r\nHOST Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nHOST Upgrade: h2c\r\n\r\n',
  ]) {
    const answers = split(await sendRaw(server.port, fillIn(server.secret, first + behind)));
    assert.deepEqual(
      answers.map(({ head }) => /^connection: close$/im.test(head)),
      [true],
      first,
    );
  }
  assert.deepEqual(query(server.databasePath, 'SELECT id FROM plants WHERE id = 937'), []);
});

test('accepts an HTTP/1.0 request without a Host, and an absolute URL', async () => {
  assert.match(await sendRaw(server.port, 'GET /healthz HTTP/1.0\r\n\r\n'), / 200 /);
  assert.match(
    await sendRaw(
      server.port,
      fillIn(server.secret, 'GET http://x/healthz HTTP/1.1\r\nHOST Connection: close\r\n\r\n'),
    ),
    / 200 /,
  );
});

function split(received: string): { status: number; head: string; body: string }[] {
  return received
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .filter((part) => part !== '')
    .map((part) => {
      const [head = '', body = ''] = part.split('\r\n\r\n');
      return { status: Number(head.slice(9, 12)), head: head.replaceAll('\r\n', '\n'), body };
    });
}
