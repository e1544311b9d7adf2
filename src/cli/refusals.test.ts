// Tests of commands on plants that fail: one line with the reason and the next step, and a specific exit status.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { ADVISED_COMMAND, type Run, runInProcess } from '../../testing/command-line.ts';
import { addToken } from '../../testing/server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

let server: TestService;
before(async () => {
  server = await startTestService();
  for (const id of ['2', '1']) assert.equal((await piped(['add', id, 'Monstera'])).status, 0);
});
after(() => server.stop());

function piped(args: string[], other: Record<string, string> = {}): Promise<Run> {
  return runInProcess(args, { env: { PLANT_STORE_URL: server.url, PLANT_STORE_TOKEN: server.secret, ...other } });
}

async function refused(args: string[], status: number, words: RegExp, other: Record<string, string> = {}) {
  const run = await piped(args, other);
  assert.deepEqual([run.status, run.stdout], [status, '']);
  assert.match(run.stderr, /^plant-store: [^\n]+\n$/);
  assert.match(run.stderr.slice('plant-store: '.length, -1), words);
}

test('--tag and --no-tag exclude each other in either order', async () => {
  const both = await Promise.all([
    piped(['edit', '1', '--tag', 'x', '--no-tag']),
    piped(['edit', '1', '--no-tag', '--tag', 'x']),
  ]);
  for (const { status, stderr } of both) {
    assert.match(stderr, /^plant-store: Option '--no-tag' cannot be used with option '--tag <tag>'\. /);
    assert.equal(status, 2);
  }
});

test('after a lost response, only a write reports that the change may have been stored', async () => {
  const deaf = createServer((request) => request.socket.destroy()).listen(0, '127.0.0.1');
  await once(deaf, 'listening');
  const where = { PLANT_STORE_URL: `http://127.0.0.1:${(deaf.address() as AddressInfo).port}` };
  await refused(['get', '1'], 6, /\. Retry the command\. If the server uses TLS, use https:\/\/\.$/, where);
  await refused(['rm', '1'], 6, /The change may have been stored\.$/, where);
  deaf.close();
});

test('https to a server without TLS is reported as a permanent failure', async () => {
  await refused(['get', '1'], 1, /^The server at https:.* does not use TLS\. Try a URL that starts with http:\/\/\.$/, {
    PLANT_STORE_URL: server.url.replace('http:', 'https:'),
  });
});

for (const [args, status, words] of [
  [
    ['get', '9223372036854775808'],
    2,
    /An id must be an integer between -9223372036854775808 and 9223372036854775807, not/,
  ],
  [['rm', '1', '1.5'], 2, /not "1.5"/],
  [['add', '0x7', 'x'], 2, /not "0x7"/],
  [['edit', '1'], 2, /Add --name, --tag or --no-tag/],
  [['get', '1', '--url', 'http://127.0.0.1:1'], 6, /Cannot reach http:\/\/127.0.0.1:1: .*Start a server/],
  [['rm', '1', '2', '--if-version', '1'], 2, /--if-version requires exactly one id/],
  [['list', '--limit', '0'], 2, /--limit must be an integer of at least 1, not "0"/],
  [['watch', '--after', '-1'], 2, /--after must be an integer of at least 0, not "-1"/],
  [['get', '1', '--url', 'localhost'], 2, /--url must be the URL of a server/],
  [['get', '-77'], 3, /No plant has id -77$/],
  [['edit', '-77', '--name', 'x'], 3, /No plant has id -77$/],
  [['add', '1', 'another'], 4, /Id 1 belongs to another plant\. Use another id, .* or add --replace\.$/],
  [['edit', '1', '--name', 'x', '--if-version', '1'], 4, /Plant 1 is at version \d+/],
  [['add', '1', 'x'.repeat(70_000)], 1, /64 KiB|65,?536/],
] as [string[], number, RegExp][]) {
  test(`${args.join(' ').slice(0, 60)} fails with status ${status}`, async () => {
    await refused(args, status, words);
  });
}

test('with a missing, invalid or unauthorized token, the error explains how to create one', async () => {
  const { secret } = await addToken(server.databaseUrl, { scopes: ['plants:read'] });
  await refused(
    ['get', '1'],
    5,
    new RegExp(`^No token for http:\\S+\\. Run "${ADVISED_COMMAND} login http:\\S+", or set PLANT_STORE_TOKEN\\.$`),
    {
      PLANT_STORE_TOKEN: '',
    },
  );
  await refused(
    ['get', '1'],
    5,
    new RegExp(`"${ADVISED_COMMAND} token create.*in the folder of the server, or with its DATABASE_URL`),
    {
      PLANT_STORE_TOKEN: `${secret}x`,
      npm_lifecycle_event: 'plant-store',
    },
  );
  await refused(['rm', '1'], 5, /plants:write.*--scopes/, { PLANT_STORE_TOKEN: secret });
  await refused(['get', '1'], 2, /PLANT_STORE_TOKEN contains an invalid character/, { PLANT_STORE_TOKEN: 'a b' });
});

test('without a server, the error has the URL and explains how to start one', async () => {
  const other = createServer((_request, response) => response.writeHead(404).end('<h1>nothing</h1>')).listen(
    0,
    '127.0.0.1',
  );
  await once(other, 'listening');
  const port = String((other.address() as AddressInfo).port);
  const where = { PLANT_STORE_URL: '', PORT: port, BASE_PATH: '/store' };
  await refused(['get', '1'], 1, /404.*\. Check the base path of http:\/\/127.0.0.1:\d+\/store\.$/, where);
  other.close();
  await once(other, 'close');
  const words = new RegExp(
    `Cannot reach http://127.0.0.1:${port}/store: connection refused\\. .*${ADVISED_COMMAND} serve"`,
  );
  await refused(['rm', '1'], 6, words, where);
  await refused(['watch'], 6, words, where);
  await refused(['list'], 2, /PORT is 0/, { PLANT_STORE_URL: '', PORT: '0' });
  await refused(['list'], 2, /PLANT_STORE_URL must be /, { PLANT_STORE_URL: 'x' });
});
