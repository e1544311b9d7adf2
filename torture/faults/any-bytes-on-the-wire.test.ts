// Sends valid and smuggled requests with bytes changed, removed or duplicated, split at random places. Each response
// must be valid HTTP, and the server must never send more responses than a strict reader sees requests. Then clients reset
// connections at random times, also behind a tunnel, an upgrade or an event stream.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { post } from '../../testing/request.ts';
import { query } from '../../testing/server.ts';
import { fault } from '../fault.ts';
import { assertError, exchange, type Piece, readAnswers, show } from '../http/answers.ts';
import { countRequests } from '../http/strict-requests.ts';
import { createRandom, type Random } from '../random.ts';
import { LENIENT_PARSER } from '../safeguards.ts';
import { Tally } from '../tally.ts';

const AT_ONCE = 16;
const LINES = [
  ...['Transfer-Encoding: chunked', 'Content-Length: 5', 'Content-Length: 21', 'Expect: 100-continue', 'Upgrade: h2c'],
  ...['Connection: close', 'Connection: keep-alive', 'Host: y', 'X-A: b', ' folded', 'X-B : c', ''],
];
const TUNNEL = 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n';
const BYTES = [...'\r\n\0 \t:,;0f-+\x80\xff"', '\r\n', '\r\n\r\n', '0\r\n\r\n'];

fault({
  name: 'any bytes on the wire',
  mark: 'The server never returns 5xx or a malformed response, nor more responses than requests. It stores every acknowledged record and nothing else. It keeps running.',
  rounds: { short: 300, full: 20_000, of: 'connections' },
  async trial({ rounds, seed, startServer }) {
    const server = await startServer();
    const statuses = new Tally<number>();
    let created = 0;
    let lost = 0;
    let next = 0;
    const tryAll = (until: number, attempt: (n: number) => Promise<void>) =>
      Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          while (next < until) await attempt(next++);
        }),
      );
    await tryAll(rounds, tryOne);

    async function tryOne(n: number): Promise<void> {
      const random = createRandom(seed + n);
      const bytes = Buffer.from(makeText(server.secret, n, random), 'latin1');
      const what = `number ${n}: ${show(bytes).replaceAll(server.secret, 'SECRET')}`;
      const received = await exchange(server.port, cut(bytes, random), { half: true }).catch((error: Error) =>
        assert.fail(`${error.message}, ${what}`),
      );
      const answers = readAnswers(received);
      const most = countRequests(bytes);
      if (answers.length === 0) lost += most;
      assert.ok(answers.length <= most, `${answers.length} responses for ${most} requests, ${what}\n${show(received)}`);
      for (const answer of answers) {
        const { status, headers, body } = answer;
        statuses.add(status);
        assert.ok(status < 500, `${status} ${body}, ${what}`);
        if (status >= 400) assertError(answer);
        if (headers.has('location') && !headers.has('idempotent-replayed')) created++;
      }
    }

    assert.equal((await post(server, '{"id":-5,"name":"honest"}')).status, 200);
    const [{ stored } = {}] = query(server.databasePath, 'SELECT count(*) AS stored FROM plants');
    const unknown = Number(stored) - created - 1;
    assert.ok(unknown >= 0 && unknown <= lost, `${stored} stored, ${created} acknowledged, ${lost} without a response`);
    assert.ok(lost <= rounds / 100, `${lost} requests got no response`);
    await tryAll(rounds * 1.1, async (n) => {
      const random = createRandom(seed + n);
      await sendAndReset(server.port, makeText(server.secret, n, random) + makeLast(server.secret, random), random);
    }).catch((error: Error) => assert.fail(`${error.message} beside resets, ${server.output().slice(-2000)}`));
    assert.doesNotMatch(server.output(), /"level":"(error|fatal)"/);
    assert.equal(await server.stop(), 0);
    return String(statuses);
  },
  controls: {
    'uses a lenient HTTP parser': {
      changes: LENIENT_PARSER,
      caught: /responses for \d+ requests/,
      rounds: 3000,
    },
    'lets Node parse a CONNECT': {
      change: ['src/http/core/node-internals.ts', "request.method !== 'CONNECT'", 'true'],
      caught: /requests got no response/,
      rounds: 3000,
    },
  },
});

/** Sends the bytes and resets the connection a moment later. Throws if the server no longer accepts connections. */
async function sendAndReset(port: number, bytes: string, random: Random): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => {}); // the server may reset it first
  socket.write(bytes, 'latin1');
  await sleep(random.below(10));
  socket.resetAndDestroy();
}

/** Returns requests after which a connection does not continue as before. */
function makeLast(secret: string, random: Random): string {
  const auth = `Authorization: Bearer ${secret}\r\n`;
  const stream = `GET /events HTTP/1.1\r\nHost: x\r\n${auth}Accept: text/event-stream\r\n\r\n`;
  const upgrade = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n';
  return random.pick([stream, upgrade, TUNNEL, stream + TUNNEL, stream + upgrade]);
}

/** Returns one to three requests with up to three random changes, some with a request for a tunnel behind them. */
function makeText(secret: string, n: number, random: Random): string {
  let text = Array.from({ length: 1 + random.below(3) }, (_, at) => makeRequest(secret, n * 3 + at, random)).join('');
  for (let changes = random.below(4); changes > 0; changes--) text = change(text, random);
  return random.below(20) === 0 ? text + TUNNEL : text;
}

function makeRequest(secret: string, id: number, random: Random): string {
  const auth = `Authorization: Bearer ${secret}\r\n`;
  const body = `{"id":${id},"name":"x"}`;
  const json = 'Content-Type: application/json\r\n';
  const chunk = (size: string) => `${size}\r\n${body}\r\n0\r\n\r\n`;
  const hex = body.length.toString(16);
  return random.pick([
    () => `GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`,
    () => `GET /plants/${id} HTTP/1.1\r\nHost: x\r\n${auth}\r\n`,
    () => `DELETE /plants/a HTTP/1.1\r\nHost: x\r\n${auth}\r\n`,
    () => `POST /plants HTTP/1.1\r\nHost: x\r\n${auth}${json}Content-Length: ${body.length}\r\n\r\n${body}`,
    () => `POST /plants HTTP/1.1\r\nHost: x\r\n${auth}${json}Transfer-Encoding: chunked\r\n\r\n${chunk(hex)}`,
    () => `POST /plants HTTP/1.1\r\nHost: x\r\n${auth}${json}Transfer-Encoding: chunked\r\n\r\n${chunk(`${hex};a=b`)}`,
    () =>
      `POST /plants HTTP/1.1\r\nHost: x\r\n${auth}${json}Content-Length: ${body.length}\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(hex)}`,
    () => `PATCH /plants/a HTTP/1.1\r\nHost: x\r\n${auth}${json}Content-Length: 12\r\n\r\n{"name":"y"}`,
    () => `POST /plants HTTP/1.1\r\nHost: x\r\n${json}Content-Length: ${body.length}\r\n\r\n${body}`,
  ])();
}

function change(text: string, random: Random): string {
  const at = random.below(text.length);
  const lines = text.split('\r\n');
  const line = random.below(lines.length);
  return random.pick([
    () => text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ (1 << random.below(8))) + text.slice(at + 1),
    () => text.slice(0, at) + text.slice(at + 1 + random.below(8)),
    () => text.slice(0, at) + random.pick(BYTES) + text.slice(at),
    () => text.slice(0, at),
    () => lines.with(line, `${lines[line]}\r\n${lines[line]}`).join('\r\n'),
    () => lines.with(line, `${lines[line]}\r\n${random.pick(LINES)}`).join('\r\n'),
    () => lines.with(line, random.pick(LINES)).join('\r\n'),
    () => text.replace(/\r\n(?=[0-9a-f]+\r\n)/, () => `\r\n${random.pick(['0', '-', '+', ' ', '0x', 'fffffffff'])}`),
    () => text.slice(0, at) + text.slice(at).replace('\r\n', '\n'),
  ])();
}

function cut(bytes: Buffer, random: Random): Piece[] {
  const pieces: Piece[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = random() < 0.5 ? bytes.length : at + 1 + random.below(bytes.length - at);
    pieces.push({ bytes: bytes.subarray(at, end), waitMs: at === 0 ? 0 : random.below(3) });
    at = end;
  }
  return pieces;
}
