// Tests that text from a file, a server or an argument reaches the terminal only with control characters escaped.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { runInProcess, typeInto } from '../../testing/command-line.ts';
import { besideServer, LAUNCHER, makeFolder, needsTerminal } from '../../testing/server.ts';

const EVIL = '\u001b]0;PWN\u0007\u009b31m';
const SHOWN = '\\x1b]0;PWN\\x07\\x9b31m';
const RECORD = { id: 1, name: `n${EVIL}`, tag: 't', created: `c${EVIL}`, updated: `u${EVIL}` };
const CHANGES = [
  { seq: 1, type: `plant.evil${EVIL}`, time: 5, plant: { id: 1, name: 'first' } },
  { seq: 2, type: 'constructor', time: `t${EVIL}`, plant: { id: 1, name: 'second' } },
  { seq: EVIL, type: 'plant.created', time: 't', plant: { id: 1, name: 'third' } },
];

const folder = makeFolder();
const database = { DATABASE_URL: `sqlite:${folder}/plants.db` };
before(() => besideServer(database.DATABASE_URL, async () => {}));

async function saysSafely(args: string[], env: Record<string, string>): Promise<string> {
  const { stderr } = await runInProcess(args, { env });
  assert.doesNotMatch(stderr.replaceAll('\n', ''), /[\p{Cc}\u2028]/u);
  return stderr;
}

test('a bad line, an unknown column and a file name are printed with escapes', async () => {
  const file = join(folder, 'h.ndjson');
  writeFileSync(file, `${EVIL}{bad\n`);
  assert.match(await saysSafely(['import', file], database), /^Line 1: .*\\x1b/m);
  const table = join(folder, 'h.csv');
  writeFileSync(table, `id,name,${EVIL}foo\n1,x,y\n`);
  assert.ok((await saysSafely(['import', table], database)).includes(`not imported: ${SHOWN.toLowerCase()}foo\n`));
  const none = await saysSafely(['import', `${EVIL}.csv`], database);
  assert.equal(none, `plant-store: File not found: ${SHOWN}.csv\n`);
  assert.ok((await saysSafely([`l${EVIL}`], database)).startsWith(`plant-store: Unknown command 'l${SHOWN}'. `));
});

suite('with a hostile server', () => {
  let hostile: Server;
  let env: Record<string, string>;
  let importAnswer: [status: number, body: object];

  before(async () => {
    hostile = createServer((request, response) => {
      request.resume();
      const send = (status: number, body: unknown) =>
        response.writeHead(status, { 'content-type': 'application/json', etag: '"1"' }).end(JSON.stringify(body));
      if (request.method === 'POST') send(...importAnswer);
      else if (request.headers.accept === 'text/event-stream') {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const change of CHANGES) response.write(`data: ${JSON.stringify(change)}\n\n`);
      } else if (request.url?.startsWith('/events')) send(200, []);
      else if (request.url?.startsWith('/plants/1')) send(200, RECORD);
      else send(200, [RECORD]);
    }).listen(0, '127.0.0.1');
    await once(hostile, 'listening');
    const port = (hostile.address() as AddressInfo).port;
    env = { PLANT_STORE_URL: `http://127.0.0.1:${port}`, PLANT_STORE_TOKEN: 'x', NO_COLOR: '1' };
  });
  after(() => {
    hostile.close();
    hostile.closeAllConnections();
  });

  test('an error response is printed as one line, and so is each failed line of an import', async () => {
    const file = join(folder, 'good.ndjson');
    writeFileSync(file, '{"id":1,"name":"x"}\n');
    const args = ['import', file, '--url', env.PLANT_STORE_URL ?? ''];
    importAnswer = [400, { error: 40002, message: `no\n${EVIL}` }];
    assert.equal(await saysSafely(args, env), `plant-store: no\\n${SHOWN}\n`);
    const errors = [{ line: 1, error: 40002, message: `bad\n${EVIL}` }];
    importAnswer = [200, { created: 0, replayed: 0, failed: 1, errors }];
    assert.equal(await saysSafely(args, env), `Line 1: bad\\n${SHOWN}\n`);
    importAnswer = [200, { created: EVIL, replayed: 0, failed: 0, errors: [] }];
    assert.match(await saysSafely(args, env), /^plant-store: .* plant store.* "created"/);
    importAnswer = [403, { error: 40301, message: `no\n${EVIL}` }];
    assert.ok((await saysSafely(['add', '1', 'x'], env)).startsWith(`plant-store: no\\n${SHOWN}. `));
  });

  test('times, names, types and numbers of any type are printed with escapes', needsTerminal, async () => {
    const [got, listed] = await Promise.all(
      [['get', '1'], ['list']].map(async (args) => (await runInProcess(args, { env, columns: 80 })).stdout),
    );
    const watch = `"${process.execPath}" "${LAUNCHER}" watch --after 0`;
    const watched = (await typeInto(watch, env, [['third', '\u0003']])).replaceAll('\r\n', '\n');
    for (const shown of [got ?? '', listed ?? '', watched]) {
      assert.match(shown, /[ut]\\x1b\]0;PWN/);
      assert.doesNotMatch(shown.replaceAll('\n', ''), /\p{Cc}/u);
    }
    assert.match(watched, /^ +1 {2}5Z {2}plant\.evil\\x1b\S+ {2}1 {2}first$/m);
    assert.match(watched, /^ +2 {2}\S+… {2}constructor {2}1 {2}second$/m);
  });
});
