// Clients request pages of names full of control characters, which take six bytes each in JSON, and read nothing. The
// server must bound the memory for their responses, and serve other clients meanwhile. The clients run in a network
// with small buffers: otherwise the system accepts megabytes for each of them.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text as readAll } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { fillIn } from '../../testing/request.ts';
import { addToken, besideServer, residentKib, type TestServer } from '../../testing/server.ts';
import { fault } from '../fault.ts';
import { inNetworkOf, privateNetwork, whyNoPrivateNetwork } from '../private-network.ts';

const CLIENTS = fileURLToPath(import.meta.resolve('../unread-clients.ts'));
const MAX_GROWTH_KIB = 300 * 1024;
const CONNECTIONS = 400;
/** Enough to fill the buffers of a connection. More would only take time. */
const PIPELINED = 3;
const PLANTS = 20;
const VERSIONS = 10;
const NAME = '\u0001'.repeat(60_000);
/** Less than the time after which the server disconnects a client that reads nothing. */
const HELD_MS = 4000;
const BUFFER_BYTES = 64 * 1024;
const MCP_LIST =
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_plants","arguments":{"limit":1000}}}';
const MCP_HEADERS = `Accept: application/json, text/event-stream\r\nContent-Length: ${MCP_LIST.length}\r\n`;

/** What each connection sends. The short form has only the first two. */
const KINDS: Record<string, string> = {
  lists: 'GET /plants?limit=1000 HTTP/1.1\r\nHOST AUTH \r\n'.repeat(PIPELINED),
  'event streams': 'GET /events HTTP/1.1\r\nHOST AUTH Accept: text/event-stream\r\n\r\n',
  changes: 'GET /events?limit=1000 HTTP/1.1\r\nHOST AUTH \r\n',
  'a history': 'GET /plants/1/changes HTTP/1.1\r\nHOST AUTH \r\n',
  'single plants': 'GET /plants/1 HTTP/1.1\r\nHOST AUTH \r\n'.repeat(PIPELINED),
  'lists through MCP': `POST /mcp HTTP/1.1\r\nHOST AUTH TYPE ${MCP_HEADERS}\r\n${MCP_LIST}`,
};
const SHORT_KINDS = 2;

fault({
  name: 'unread responses',
  mark: 'Memory grows by at most 300 MiB, and other clients get their pages.',
  rounds: { short: 1, full: 2, of: `rounds of ${CONNECTIONS} connections of each kind, with 1 and 2 threads` },
  skip: whyNoPrivateNetwork,
  async trial({ rounds, isFull, startServer }) {
    const grown: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const env = { THREADS: String(1 + (round % 2)) };
      const server = await startServer({ env, wrapper: privateNetwork({ bufferBytes: BUFFER_BYTES }) });
      await fill(server);
      const honest = (await addToken(server.databaseUrl, {})).secret;
      for (const [name, request] of Object.entries(KINDS).slice(0, isFull ? undefined : SHORT_KINDS)) {
        const kib = await holdUnread(server, honest, name, fillIn(server.secret, request));
        assert.ok(kib < MAX_GROWTH_KIB, `${name}: memory grew by ${Math.round(kib / 1024)} MiB`);
        grown.push(`${name} ${Math.round(kib / 1024)}`);
      }
      assert.doesNotMatch(server.output(), /"level":"(error|fatal)"/);
      await server.kill();
    }
    return `memory growth in MiB: ${grown.join(', ')}`;
  },
  controls: {},
});

async function fill(server: TestServer): Promise<void> {
  await besideServer(server.databaseUrl, async (store) => {
    for (let id = 0; id < PLANTS; id++) await store.create({ id: BigInt(id), name: NAME }, server);
    for (let n = 0; n < VERSIONS; n++) await store.put(1n, { name: `${n}${NAME}` }, server);
  });
}

/** Returns the growth of memory in KiB. */
async function holdUnread(server: TestServer, honest: string, name: string, bytes: Uint8Array): Promise<number> {
  const text = Buffer.from(bytes).toString('latin1');
  const options = JSON.stringify({
    port: server.port,
    secret: server.secret,
    honest,
    text,
    count: CONNECTIONS,
    heldMs: HELD_MS,
  });
  const beforeKib = residentKib(server);
  let mostKib = beforeKib;
  const timer = setInterval(() => {
    mostKib = Math.max(mostKib, residentKib(server));
  }, 20);
  const [command = '', ...args] = [...inNetworkOf(server), process.execPath, CLIENTS, options];
  const clients = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const statuses = JSON.parse(await readAll(clients.stdout));
  clearInterval(timer);
  assert.deepEqual(Object.keys(statuses), ['200'], `${name}: the honest client received ${JSON.stringify(statuses)}`);
  return mostKib - beforeKib;
}
