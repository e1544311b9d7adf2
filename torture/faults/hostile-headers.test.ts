// Headers named like properties of every JavaScript object, oversized headers, and thousands of headers.

import assert from 'node:assert/strict';
import { post, send } from '../../testing/request.ts';
import { query, residentKib } from '../../testing/server.ts';
import { waitForThreads } from '../../testing/threads.ts';
import { fault } from '../fault.ts';
import { ask, assertError } from '../http/answers.ts';
import type { Random } from '../random.ts';
import { Tally } from '../tally.ts';

const NAMES = '__proto__ constructor prototype toString valueOf hasOwnProperty __defineGetter__ then'.split(' ');
const BODY = '{"id":900,"name":"x"}';
const MAX_GROWTH_KIB = 64 * 1024;

/** Description, headers (HOST, AUTH and TYPE stand for valid ones), and the expected error number. */
type Hostile = [what: string, headers: string, error: number];

/**
 * Each request lacks a header that a create needs, or has too many. A similar header must not replace a missing one.
 */
const KINDS: ((random: Random, name: string) => Hostile)[] = [
  (_, name) => [`${name} as the credentials`, `HOST TYPE ${name}: Bearer SECRET\r\n`, 40_101],
  (_, name) => [`${name} as the media type`, `HOST AUTH ${name}: application/json\r\n`, 41_500],
  (_, name) => [`${name} as the media type itself`, `HOST AUTH Content-Type: ${name}\r\n`, 41_500],
  (_, name) => [`${name} twice without Host`, `AUTH TYPE ${`${name}: a\r\n`.repeat(2)}`, 40_000],
  (random) => {
    const length = 16_384 + random.below(100_000);
    return [`a header of ${length} bytes`, `HOST AUTH TYPE X-A: ${'a'.repeat(length)}\r\n`, 43_100];
  },
  (random) => {
    const length = 16_384 + random.below(100_000);
    return [`a name of ${length} bytes`, `HOST AUTH TYPE ${'a'.repeat(length)}: b\r\n`, 43_100];
  },
  () => ['a header of 64 KiB', `HOST AUTH TYPE X-A: ${'a'.repeat(65_536)}\r\n`, 43_100],
  (random) => {
    const count = 2000 + random.below(20_000);
    return [`${count} headers`, `HOST AUTH TYPE ${'a:\r\n'.repeat(count)}`, 43_100];
  },
  (random) => {
    const lines = Array.from({ length: 2000 + random.below(3000) }, (_, n) => `${random.pick(NAMES)}${n}: ${n}\r\n`);
    return [`${lines.length} different headers`, `HOST AUTH TYPE ${lines.join('')}`, 43_100];
  },
  (random) => {
    const others = 'a:\r\n'.repeat(850 + random.below(50));
    return ['a second Authorization after 900 other headers', `HOST AUTH TYPE ${others}AUTH `, 40_000];
  },
];

fault({
  name: 'hostile headers',
  mark: 'The server returns 4xx, stores nothing and keeps running.',
  rounds: { short: 40, full: 2000, of: `requests of ${KINDS.length} kinds` },
  async trial({ rounds, random, startServer }) {
    const server = await startServer();
    await waitForThreads(server);
    const beforeKib = residentKib(server);
    const seen = new Tally<number>();
    for (let round = 0; round < rounds; round++) {
      const [what, headers, error] = (KINDS[round % KINDS.length] as (typeof KINDS)[number])(
        random,
        random.pick(NAMES),
      );
      const [answer, ...more] = await ask(server, request(headers).replace('SECRET', server.secret)).catch(
        (reason: Error) => assert.fail(`${what}: ${reason.message}`),
      );
      assert.ok(answer && more.length === 0, `${what}: ${more.length + 1} responses`);
      assert.equal(answer.status, Math.floor(error / 100), `${what}: ${answer.status} ${answer.body}`);
      assertError(answer, error);
      seen.add(answer.status);
    }
    assert.deepEqual(query(server.databasePath, 'SELECT id FROM plants'), []);
    const grownKib = residentKib(server) - beforeKib;
    assert.ok(grownKib < MAX_GROWTH_KIB, `memory grew by ${grownKib} KiB`);

    // The server accepts such a header name in an otherwise valid request.
    const headers = Object.fromEntries(NAMES.slice(1).map((name) => [name, 'a']));
    assert.equal((await post(server, BODY, headers)).status, 200);
    assert.equal((await send(server.port, { path: '/healthz', headers: JSON.parse('{"__proto__":"a"}') })).status, 200);
    assert.equal(await server.stop(), 0);
    return String(seen);
  },
  controls: {
    'has a header limit of 1 MiB': {
      change: ['src/http/core/raw-refusal.ts', 'MAX_HEADER_BYTES = 16 * 1024', 'MAX_HEADER_BYTES = 1024 * 1024'],
      caught: /a header of \d+ bytes: 200/,
    },
  },
});

function request(headers: string): string {
  return `POST /plants HTTP/1.1\r\n${headers}Connection: close\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;
}
