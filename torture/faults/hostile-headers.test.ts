// Headers with the names of what every object in JavaScript has, headers that are too long, and thousands of them.

import assert from 'node:assert/strict';
import { post, send } from '../../testing/request.ts';
import { query, residentKib } from '../../testing/server.ts';
import { fault } from '../fault.ts';
import { ask, assertError } from '../http/answers.ts';
import type { Random } from '../random.ts';
import { Tally } from '../tally.ts';

const NAMES = '__proto__ constructor prototype toString valueOf hasOwnProperty __defineGetter__ then'.split(' ');
const BODY = '{"id":900,"name":"x"}';
const MAX_GROWTH_KIB = 64 * 1024;

/** What is sent, its headers with HOST, AUTH and TYPE for good ones, and the error that must come. */
type Hostile = [what: string, headers: string, error: number];

/** None of them has what a create needs, and what only looks like it may not stand in for it. */
const KINDS: ((random: Random, name: string) => Hostile)[] = [
  (_, name) => [`${name} as the credentials`, `HOST TYPE ${name}: Bearer SECRET\r\n`, 40_101],
  (_, name) => [`${name} as the media type`, `HOST AUTH ${name}: application/json\r\n`, 41_500],
  (_, name) => [`${name} as the media type itself`, `HOST AUTH Content-Type: ${name}\r\n`, 41_500],
  (_, name) => [`${name} twice, and no Host`, `AUTH TYPE ${`${name}: a\r\n`.repeat(2)}`, 40_000],
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
    return ['a second Authorization behind 900 others', `HOST AUTH TYPE ${others}AUTH `, 40_000];
  },
];

fault({
  name: 'hostile headers',
  mark: '4xx, nothing stored, alive',
  rounds: { short: 40, full: 2000, of: `requests of ${KINDS.length} kinds` },
  async trial({ rounds, random, startServer }) {
    const server = await startServer();
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
      assert.ok(answer && more.length === 0, `${what}: ${more.length + 1} answers`);
      assert.equal(answer.status, Math.floor(error / 100), `${what}: ${answer.status} ${answer.body}`);
      assertError(answer, error);
      seen.add(answer.status);
    }
    assert.deepEqual(query(server.databasePath, 'SELECT id FROM plants'), []);
    const grownKib = residentKib(server) - beforeKib;
    assert.ok(grownKib < MAX_GROWTH_KIB, `it took ${grownKib} KiB`);

    // A name alone is no offence.
    const headers = Object.fromEntries(NAMES.slice(1).map((name) => [name, 'a']));
    assert.equal((await post(server, BODY, headers)).status, 200);
    assert.equal((await send(server.port, { path: '/healthz', headers: JSON.parse('{"__proto__":"a"}') })).status, 200);
    assert.equal(await server.stop(), 0);
    return String(seen);
  },
  controls: {
    'one without a bound on headers': {
      change: ['src/http/core/raw-refusal.ts', 'MAX_HEADER_BYTES = 16 * 1024', 'MAX_HEADER_BYTES = 1024 * 1024'],
      caught: /a header of \d+ bytes: 200/,
    },
  },
});

function request(headers: string): string {
  return `POST /plants HTTP/1.1\r\n${headers}Connection: close\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;
}
