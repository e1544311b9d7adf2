// JSON that is short to send and slow to parse, as a body and as import lines, which may be longer. The server's
// metrics report its event loop delay.

import assert from 'node:assert/strict';
import { importFile, post, send } from '../../testing/request.ts';
import { addToken, query, type TestServer } from '../../testing/server.ts';
import { fault } from '../fault.ts';

const BODY_BYTES = 64 * 1024;
const LINE_BYTES = 1024 * 1024 - 2000;
/** A busy machine delays even an idle process. Without a limit, a bomb stalls the event loop for seconds. */
const SHORT_FORM_MAX_MS = 1000;
const MAX_STALL_MS = 50;

/** Each bomb has the maximum length. V8 hashes integer-like keys by value and without a secret, so they can collide. */
const BOMBS: Record<string, (bytes: number) => string> = {
  '100,000 nested arrays': (bytes) => nest(Math.min((bytes - 30) / 2, 100_000), '[', ']'),
  '100,000 nested objects': (bytes) => nest(Math.min((bytes - 30) / 6, 100_000), '{"a":', '}'),
  '100,000 unclosed arrays': (bytes) => '['.repeat(Math.min(bytes, 100_000)),
  'colliding keys': (bytes) => `{${fill(bytes, (n) => `"${n * 2 ** 16}":1`)}}`,
  'colliding keys in the last bits': (bytes) => `{${fill(bytes, (n) => `"${(n * 2 ** 20) % (2 ** 32 - 5)}":1`)}}`,
  'different keys': (bytes) => `{"id":1.0,${fill(bytes, (n) => `"k${n}":1`)}}`,
  'one key': (bytes) => `{${fill(bytes, () => '"a":1')}}`,
  'a number of 60,000 digits': () => `{"id":${'9'.repeat(60_000)},"name":"x"}`,
  'a fraction of 60,000 digits': () => `{"id":0.${'10'.repeat(30_000)}1,"name":"x"}`,
  'many exponents': (bytes) => `{"id":1,"a":[${fill(bytes, () => '1e1')}]}`,
  'many numbers after a fraction': (bytes) => `{"id":1,"a":[1.5,${fill(bytes, () => '1')}]}`,
  'many large numbers': (bytes) => `{"id":1,"a":[${fill(bytes, () => '9007199254740993')}]}`,
  'many objects': (bytes) => `{"id":1.0,"a":[${fill(bytes, (n) => `{"b${n}":{}}`)}]}`,
  'many escapes': (bytes) => `{"id":1.0,"tag":1,"name":"${'\\u0041'.repeat((bytes - 50) / 6)}"}`,
  'many quotation marks': (bytes) => `{"id":1.0,"tag":1,"name":"${'\\"'.repeat((bytes - 50) / 2)}"}`,
  'many colons': (bytes) => `{"id":1,"tag":1,"name":"${':'.repeat(bytes - 50)}"}`,
};

fault({
  name: 'JSON bombs',
  mark: 'The server returns 4xx, and the event loop never stalls for more than 50 ms.',
  rounds: { short: 1, full: 10, of: `rounds of ${Object.keys(BOMBS).length} bodies and as many import lines of 1 MiB` },
  async trial({ rounds, isFull, startServer }) {
    const server = await startServer();
    const admin = (await addToken(server.databaseUrl, { scopes: ['admin'] })).secret;
    const stalls = new Map<string, number>();
    for (const [name, make] of Object.entries(BOMBS)) {
      const [body, line] = [make(BODY_BYTES - 200), make(LINE_BYTES)];
      const stallsMs: number[] = [];
      for (let round = 0; round <= rounds; round++) {
        await readStallMs(server, admin);
        const answer = await post(server, body);
        assert.ok(answer.status >= 400 && answer.status < 500, `${name}: ${answer.status} ${answer.body}`);
        const { status, body: report } = await importFile(server, 'application/x-ndjson', `${line}\n`);
        assert.equal(status, 200, `${name} in a line: ${report}`);
        const { failed, errors } = JSON.parse(report);
        assert.deepEqual([failed, Math.floor(errors[0]?.error / 10_000)], [1, 4], `${name} in a line: ${report}`);
        stallsMs.push(await readStallMs(server, admin));
      }
      // The minimum counts: a bomb stalls each time, other processes do not. The first round runs before V8 compiles
      // the code.
      stalls.set(name, Math.min(...stallsMs.slice(1)));
    }
    assert.deepEqual(query(server.databasePath, 'SELECT id FROM plants'), []);
    assert.equal((await post(server, '{"id":1,"name":"x"}')).status, 200);
    assert.equal(await server.stop(), 0);
    const [name, worstMs] = [...stalls].sort(([, a], [, b]) => b - a)[0] ?? ['', 0];
    const maxMs = isFull ? MAX_STALL_MS : SHORT_FORM_MAX_MS;
    assert.ok(worstMs <= maxMs, `${name}: the event loop stalled for ${worstMs.toFixed(0)} ms`);
    return `${stalls.size * 2} × rejected, event loop delay at most ${worstMs.toFixed(0)} ms (${name})`;
  },
  controls: {
    'does not limit the values in a line': {
      change: ['src/files/plant-block.ts', 'const MAX_VALUES = 1000', 'const MAX_VALUES = 1e9'],
      caught: /the event loop stalled/,
    },
    'does not limit the nesting depth': {
      change: ['src/lib/exact-json.ts', 'if (++depth > MAX_NESTING) return true;', '++depth;'],
      caught: /^100,000 nested arrays: 200/,
    },
  },
});

/** Returns a plant with a nested value. */
function nest(depth: number, open: string, close: string): string {
  return `{"id":1,"name":"x","y":${open.repeat(depth)}1${close.repeat(depth)}}`;
}

function fill(bytes: number, make: (n: number) => string): string {
  const parts: string[] = [];
  for (let chars = 30, n = 0; ; n++) {
    const part = make(n);
    chars += part.length + 1;
    if (chars > bytes) return parts.join(',');
    parts.push(part);
  }
}

/** Returns the maximum event loop delay since the last call. */
async function readStallMs({ port }: TestServer, admin: string): Promise<number> {
  const { body } = await send(port, { path: '/metrics', headers: { authorization: `Bearer ${admin}` } });
  return 1000 * Number(/^plant_store_event_loop_delay_seconds\{percentile="100"\} (\S+)$/m.exec(body)?.[1]);
}
