// One token starts 16 exports and 16 imports and keeps them as slow as it can. Another token must get its export and
// its import at once. In the full form, the server ends the slow transfers because they are below the minimum rate.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { makeDatabase } from '../../testing/postgres.ts';
import { fillIn, importFile, send } from '../../testing/request.ts';
import { addToken, besideServer, type TestServer } from '../../testing/server.ts';
import { eventually, until } from '../../testing/until.ts';
import { fault, type Trial } from '../fault.ts';
import { whyNoPostgres } from '../on-postgres.ts';
import { inNetworkOf, privateNetwork, whyNoPrivateNetwork } from '../private-network.ts';

const READER = fileURLToPath(import.meta.resolve('../slow-reader.ts'));
const SLOTS = 16;
const SHARE = SLOTS / 4;
/** More data than the system buffers for a client that does not read. */
const PLANTS = 20_000;
const NAME = 'x'.repeat(500);
const SLOW_IMPORT = { bytesPerSecond: 128, endsWithinS: 60 };
/** Fast enough for the rule that a reader must read some bytes each minute. */
const SLOW_EXPORT = { bytesPerSecond: 2000, endsWithinS: 180 };
/** Above the minimum rate of 8 KiB/s. */
const STEADY_BYTES_PER_SECOND = 12_000;
const SMALL_BUFFER_BYTES = 64 * 1024;

const EXPORT = 'GET /plants/export HTTP/1.1\r\nHOST AUTH \r\n';
const IMPORT =
  'POST /plants/import HTTP/1.1\r\nHOST AUTH Content-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nid,name\n\r\n';

fault({
  name: 'one token uses every slot',
  mark: 'Other tokens get a slot at once, and the server ends transfers that are too slow.',
  rounds: { short: 1, full: 2, of: `databases, each with ${SLOTS} exports and ${SLOTS} imports of one token` },
  async trial(trial) {
    const { rounds, isFull, startServer } = trial;
    const urls = [{}, ...(rounds > 1 && !whyNoPostgres ? [{ databaseUrl: await makeDatabase() }] : [])];
    for (const database of urls) {
      const server = await startServer(database);
      await fill(server);
      await takeAll(trial.t, server);
      assert.equal(await server.stop(), 0);
    }
    if (!isFull) return `${SHARE} slots for one token, the others available, on ${urls.length} database`;
    const ended = await Promise.all([endSlowImport(trial), endSlowExport(trial)]);
    return `${SHARE} slots for one token, the others available, on ${urls.length} databases; ${ended.join(', ')}`;
  },
  controls: {
    'gives one token all slots': {
      change: ['src/http/access/fair-share.ts', 'most / 4', 'most'],
      caught: /exports of one token/,
    },
    'keeps a slot after its client disconnects': {
      change: ['src/http/routes/import-export.ts', 'cleanUp.defer(takeExport(token.id));', 'takeExport(token.id);'],
      caught: /no slot after the others closed/,
    },
    'has no minimum rate for imports': {
      change: ['src/http/core/streamed-body.ts', 'BYTES_PER_S = 1024', 'BYTES_PER_S = 1'],
      caught: /an import of 128 B\/s did not end/,
    },
    'has no minimum rate for export readers': {
      change: ['src/http/core/slow-clients.ts', 'EXPORT_BYTES_PER_S = 8 * 1024', 'EXPORT_BYTES_PER_S = 1'],
      caught: /an export read at 2000 B\/s did not end/,
    },
  },
});

async function fill(server: TestServer): Promise<void> {
  const rows = Array.from({ length: PLANTS }, (_, n) => `${n},${NAME}\n`);
  assert.equal((await importFile(server, 'text/csv', `id,name\n${rows.join('')}`)).status, 200);
}

async function takeAll(t: TestContext, server: TestServer): Promise<void> {
  const other = { ...server, secret: (await addToken(server.databaseUrl, {})).secret };
  const kinds: [name: string, bytes: string, use: () => Promise<number>][] = [
    ['exports', EXPORT, () => takeExport(other)],
    ['imports', IMPORT, async () => (await importFile(other, 'text/csv', 'id,name\n-1,x\n')).status],
  ];
  for (const [name, bytes, use] of kinds) {
    const slow = Array.from({ length: SLOTS }, () => startSlow(t, server, bytes));
    const refused = () => slow.filter(({ received }) => received().startsWith('HTTP/1.1 429 '));
    await until(() => name === 'imports' || slow.every(({ received }) => received() !== ''));
    await until(() => refused().length >= SLOTS - SHARE, 5000).catch(() => {});
    assert.equal(
      refused().length,
      SLOTS - SHARE,
      `${SLOTS - refused().length} of ${SLOTS} ${name} of one token in progress`,
    );
    for (const { received } of refused()) {
      assert.match(received(), /^retry-after: [1-9]\d*\r$.*"error":42901,/ims, `too many ${name}`);
    }
    assert.equal(await use(), 200, `${name} of another token`);
    for (const { socket } of slow) socket.destroy();
    await eventually(async () => {
      const own = startSlow(t, server, bytes);
      await setTimeout(100);
      const start = own.received();
      own.socket.destroy();
      assert.doesNotMatch(start, /^HTTP\/1.1 429 /, 'no slot after the others closed');
    });
  }
}

/** Sends the request, reads the first bytes of the response, and then stops reading. */
function startSlow(
  t: TestContext,
  { port, secret }: TestServer,
  bytes: string,
): { socket: Socket; received(): string } {
  const socket = connect(port, '127.0.0.1');
  socket.write(fillIn(secret, bytes));
  t.after(() => socket.destroy());
  let received = '';
  socket
    .on('error', () => {})
    .on('data', (chunk) => {
      received += chunk.toString('latin1');
      if (received.startsWith('HTTP/1.1 200 ')) socket.pause();
    });
  return { socket, received: () => received };
}

async function takeExport({ port, secret }: TestServer): Promise<number> {
  const { status, body } = await send(port, { path: '/plants/export', headers: { authorization: `Bearer ${secret}` } });
  assert.equal(body.trimEnd().split('\n').length, PLANTS);
  return status;
}

async function endSlowImport({ t, startServer }: Trial): Promise<string> {
  const server = await startServer();
  const { socket, received } = startSlow(t, server, IMPORT);
  const startMs = performance.now();
  const seconds = () => (performance.now() - startMs) / 1000;
  const row = `1,${'x'.repeat(SLOW_IMPORT.bytesPerSecond - 3)}\n`;
  while (received() === '' && !socket.closed && seconds() < SLOW_IMPORT.endsWithinS) {
    socket.write(`${row.length.toString(16)}\r\n${row}\r\n`);
    await setTimeout(1000);
  }
  assert.ok(seconds() < SLOW_IMPORT.endsWithinS, `an import of ${SLOW_IMPORT.bytesPerSecond} B/s did not end`);
  assert.match(received(), /^(HTTP\/1.1 408 |$)/); // the connection may be reset before the client reads the response
  await server.kill();
  return `an import of ${SLOW_IMPORT.bytesPerSecond} B/s ended after ${seconds().toFixed(0)} s`;
}

/** Uses small buffers. Otherwise the system buffers 1 MiB for the client, and the slow rate shows minutes later. */
async function endSlowExport({ t, startServer }: Trial): Promise<string> {
  if (whyNoPrivateNetwork) return `export SKIPPED: ${whyNoPrivateNetwork}`;
  const wrapper = privateNetwork({ bufferBytes: SMALL_BUFFER_BYTES });
  const server = await startServer({ wrapper, env: { ACCESS_LOG: '1' } });
  await besideServer(server.databaseUrl, async (store) => {
    for (let id = 0; id < PLANTS; id += 1000) {
      const plants = Array.from({ length: 1000 }, (_, n) => ({ id: BigInt(id + n), name: NAME }));
      await store.import(plants, { tokenId: server.tokenId });
    }
  });
  const startMs = performance.now();
  startReading(t, server, 'slow', SLOW_EXPORT.bytesPerSecond);
  startReading(t, server, 'steady', STEADY_BYTES_PER_SECOND);
  // The log shows it first. The client must first read the data sent before.
  const hasEnded = (id: string) => server.output().includes(`"requestId":"${id}"`);
  await until(() => hasEnded('slow'), SLOW_EXPORT.endsWithinS * 1000).catch(() => {});
  assert.ok(hasEnded('slow'), `an export read at ${SLOW_EXPORT.bytesPerSecond} B/s did not end`);
  assert.ok(!hasEnded('steady'), `an export read at ${STEADY_BYTES_PER_SECOND} B/s was ended`);
  await server.kill();
  const seconds = (performance.now() - startMs) / 1000;
  return `an export read at ${SLOW_EXPORT.bytesPerSecond} B/s ended after ${seconds.toFixed(0)} s`;
}

function startReading(t: TestContext, server: TestServer, id: string, bytesPerSecond: number): void {
  const options = JSON.stringify({ port: server.port, secret: server.secret, id, bytesPerSecond });
  const [command = '', ...args] = [...inNetworkOf(server), process.execPath, READER, options];
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
}
