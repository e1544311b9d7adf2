// Plain JSON bodies that are declared as compressed, or as a type other than JSON in UTF-8. A server that guesses the
// type from the content would also guess wrong.

import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { type Answer, post, send } from '../../testing/request.ts';
import { query } from '../../testing/server.ts';
import { fault } from '../fault.ts';
import type { Random } from '../random.ts';

const BODY = '{"id":900,"name":"x"}';
const ENCODINGS = 'gzip|x-gzip|GZIP|deflate|br|zstd|compress|identity, gzip|gzip, gzip|aes128gcm|x|'.split('|');
const TYPES = [
  ...[
    'application/jsonx',
    'application/xjson',
    'application/json; charset=utf-16',
    'application/json;charset=UTF-16LE',
  ],
  ...['application/json; charset=utf-8x', 'application/json; charset="utf-7"', 'application/json; charset=latin1'],
  ...['application/json, application/json', 'application/json, text/plain', 'application/ json', 'application /json'],
  ...['application//json', 'application', 'application/', '/json', 'json', ';application/json', 'text/json'],
  ...['text/plain', 'application/ld+json', 'application/merge-patch+json', 'application/x-ndjson', '*/*', '__proto__'],
  ...['application/x-www-form-urlencoded', 'multipart/form-data; boundary=application/json', ''],
  'text/plain; a=application/json',
];
const LETTERS = 'abcdejnostx/+-.;=, "\t';

fault({
  name: 'compressed body, unsupported content types',
  mark: 'The server returns 415 with the accepted type or encoding, and stores nothing.',
  rounds: { short: 150, full: 5000, of: 'headers' },
  async trial({ rounds, random, startServer }) {
    const server = await startServer();
    for (let round = 0; round < rounds; round++) {
      const [what, answer] = await sendOdd(server, round, random);
      assert.equal(answer.status, 415, `${what}: ${answer.status} ${answer.body}`);
      assert.equal(JSON.parse(answer.body).error, 41_500, what);
      const accepted = answer.headers['accept-encoding'] ?? answer.headers.accept;
      assert.equal(accepted, what.startsWith('Content-Encoding') ? 'identity' : 'application/json', what);
    }
    assert.deepEqual(query(server.databasePath, 'SELECT id FROM plants'), []);
    assert.equal((await post(server, BODY, { 'content-type': 'application/json; charset=utf-8' })).status, 200);
    assert.equal(await server.stop(), 0);
    return `${rounds.toLocaleString('en')} × 415`;
  },
  controls: {
    'does not check Content-Encoding': {
      change: ['src/http/core/json-body.ts', `headers['content-encoding'] !== undefined`, 'false'],
      caught: /^Content-Encoding/,
    },
    'does not check the charset': {
      change: ['src/http/core/json-body.ts', `(params.get('charset') ?? 'utf-8')`, `'utf-8'`],
      caught: /charset=utf-16: 200/,
    },
  },
});

async function sendOdd(
  server: { port: number; secret: string },
  round: number,
  random: Random,
): Promise<[string, Answer]> {
  const encoding = ENCODINGS[round];
  if (encoding !== undefined) {
    const body = round % 2 === 0 ? gzipSync(BODY) : BODY;
    return [`Content-Encoding: ${encoding}`, await post(server, body, { 'content-encoding': encoding })];
  }
  if (round === ENCODINGS.length) {
    const headers = { authorization: `Bearer ${server.secret}` };
    return ['no Content-Type', await send(server.port, { method: 'POST', path: '/plants', headers, body: BODY })];
  }
  const type = TYPES[round - ENCODINGS.length - 1] ?? anyOther(random);
  return [`Content-Type: ${type}`, await post(server, BODY, { 'content-type': type })];
}

/** Returns application/json with one random edit that makes it another media type. */
function anyOther(random: Random): string {
  const right = 'application/json';
  for (;;) {
    const at = random.below(right.length + 1);
    const text = right.slice(0, at) + LETTERS[random.below(LETTERS.length)] + right.slice(at + random.below(3));
    if (!/^application\/json *(;|$)/.test(text.trim().replace(/\t/g, ' '))) return text;
  }
}
