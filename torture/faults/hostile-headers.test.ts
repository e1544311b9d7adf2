// Headers with the names of what every object in JavaScript has, headers that are too long, and thousands of them.

import assert from 'node:assert/strict';
import { post, send } from '../../testing/request.ts';
import { query, residentKib } from '../../testing/server.ts';
import { fault } from '../fault.ts';
import { ask, assertError } from '../http/answers.ts';
import type { Random } from '../random.ts';

const NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '__defineGetter__',
  'then',
];
const BODY = '{"id":900,"name":"x"}';
const MAX_GROWTH_KIB = 64 * 1024;

interface Hostile {
  what: string;
  /** HOST, AUTH and TYPE stand for good headers. */
  bytes: string;
  error: number;
}

/** None of them has what it takes: what only looks like it may not stand in for it. */
const KINDS: ((random: Random) => Hostile)[] = [
  (random) => {
    const name = random.pick(NAMES);
    return {
      what: `${name} as the credentials`,
      bytes: request(`HOST TYPE ${name}: Bearer SECRET\r\n`),
      error: 40_101,
    };
  },
  (random) => {
    const name = random.pick(NAMES);
    return {
      what: `${name} as the media type`,
      bytes: request(`HOST AUTH ${name}: application/json\r\n`),
      error: 41_500,
    };
  },
  (random) => {
    const name = random.pick(NAMES);
    return {
      what: `${name} as the media type itself`,
      bytes: request(`HOST AUTH Content-Type: ${name}\r\n`),
      error: 41_500,
    };
  },
  (random) => ({
    what: `${random.pick(NAMES)} twice, and no Host`,
    bytes: request(`AUTH TYPE ${`${random.pick(NAMES)}: a\r\n`.repeat(2)}`),
    error: 40_000,
  }),
  (random) => {
    const length = 16_384 + random.below(100_000);
    return {
      what: `a header of ${length} bytes`,
      bytes: request(`HOST AUTH TYPE X-A: ${'a'.repeat(length)}\r\n`),
      error: 43_100,
    };
  },
  (random) => {
    const length = 16_384 + random.below(100_000);
    return {
      what: `a name of ${length} bytes`,
      bytes: request(`HOST AUTH TYPE ${'a'.repeat(length)}: b\r\n`),
      error: 43_100,
    };
  },
  () => ({
    what: 'a header of 64 KiB',
    bytes: request(`HOST AUTH TYPE X-A: ${'a'.repeat(65_536)}\r\n`),
    error: 43_100,
  }),
  (random) => {
    const count = 2000 + random.below(20_000);
    return { what: `${count} headers`, bytes: request(`HOST AUTH TYPE ${'a:\r\n'.repeat(count)}`), error: 43_100 };
  },
  (random) => {
    const count = 2000 + random.below(3000);
    const lines = Array.from({ length: count }, (_, n) => `${random.pick(NAMES)}${n}: ${n}\r\n`);
    return { what: `${count} different headers`, bytes: request(`HOST AUTH TYPE ${lines.join('')}`), error: 43_100 };
  },
  (random) => ({
    what: 'a second Authorization behind 900 others',
    bytes: request(`HOST AUTH TYPE ${'a:\r\n'.repeat(850 + random.below(50))}AUTH `),
    error: 40_000,
  }),
];

fault({
  name: 'hostile headers',
  mark: '4xx, nothing stored, alive',
  rounds: { short: 40, full: 2000, of: `requests of ${KINDS.length} kinds` },
  async trial({ rounds, random, startServer }) {
    const server = await startServer();
    const beforeKib = residentKib(server);
    const seen = new Map<number, number>();
    for (let round = 0; round < rounds; round++) {
      const kind = KINDS[round % KINDS.length] as (random: Random) => Hostile;
      const { what, bytes, error } = kind(random);
      const [answer, ...more] = await ask(server, bytes.replace('SECRET', server.secret)).catch((reason: Error) =>
        assert.fail(`${what}: ${reason.message}`),
      );
      assert.deepEqual(
        [answer?.status, more.length],
        [Math.floor(error / 100), 0],
        `${what}: ${answer?.status} ${answer?.body}`,
      );
      if (answer) assertError(answer, error);
      seen.set(answer?.status ?? 0, (seen.get(answer?.status ?? 0) ?? 0) + 1);
    }
    assert.deepEqual(query(server.databasePath, 'SELECT id FROM plants'), []);
    const grownKib = residentKib(server) - beforeKib;
    assert.ok(grownKib < MAX_GROWTH_KIB, `it took ${grownKib} KiB`);

    // A name alone is no offence.
    const headers = Object.fromEntries(NAMES.slice(1).map((name) => [name, 'a']));
    assert.equal((await post(server, BODY, headers)).status, 200);
    assert.equal((await send(server.port, { path: '/healthz', headers: JSON.parse('{"__proto__":"a"}') })).status, 200);
    assert.equal(await server.stop(), 0);
    return [...seen].map(([status, count]) => `${count} × ${status}`).join(', ');
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
