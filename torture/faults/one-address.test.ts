// One address opens as many connections as it can. Other addresses must still get connections. Proxies and loopback
// represent many clients, so the limit must not apply to them. Server and clients run in their own network namespace.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { TestServer } from '../../testing/server.ts';
import { eventually } from '../../testing/until.ts';
import { fault } from '../fault.ts';
import type { HeldConnections } from '../held-connections.ts';
import { inNetworkOf, privateNetwork, whyNoPrivateNetwork } from '../private-network.ts';

const CLIENT = fileURLToPath(import.meta.resolve('../held-connections.ts'));
const MOST = 1000;
const [CLIENT_1, CLIENT_2] = ['10.9.8.7', '10.9.8.8'] as const;
/** The first two addresses share a /64 network. */
const [IPV6_1, IPV6_2, IPV6_3] = ['fd00:9::1', 'fd00:9::2', 'fd00:9:0:1::1'] as const;
const addresses = [
  ...[CLIENT_1, CLIENT_2].map((own) => `${own}/32`),
  ...[IPV6_1, IPV6_2, IPV6_3].map((own) => `${own}/128`),
];

fault({
  name: 'many connections from one address',
  mark: 'An address holds at most a tenth of the connections. Others can connect. Loopback and trusted proxies are exempt.',
  rounds: {
    short: 1,
    full: 3,
    of: `rounds of ${(MOST + 1).toLocaleString('en')} connections from an address and from loopback; the full form adds IPv6 and proxies`,
  },
  skip: whyNoPrivateNetwork,
  async trial({ t, rounds, isFull, startServer }) {
    const network = { wrapper: privateNetwork({ addresses }) };
    const server = await startServer({ ...network, env: { HOST: '::' } });
    for (let round = 0; round < rounds; round++) {
      await holdTooMany(t, server, [CLIENT_1], isFull ? [CLIENT_2, '127.0.0.1', IPV6_1] : [CLIENT_2]);
      await holdMany(t, server, '127.0.0.1', 'loopback');
      if (!isFull) continue;
      await holdTooMany(t, server, [IPV6_1, IPV6_2], [IPV6_3, '::1', CLIENT_1]);
      await holdMany(t, server, '::1', 'loopback');
    }
    assert.equal(await server.stop(), 0);
    for (const trusted of isFull ? [`${CLIENT_1},${IPV6_1}`, '1'] : []) {
      const behindProxy = await startServer({ ...network, env: { HOST: '::', TRUST_PROXY: trusted } });
      for (const own of [CLIENT_1, IPV6_1]) await holdMany(t, behindProxy, own, `the proxy of TRUST_PROXY=${trusted}`);
      assert.equal(await behindProxy.stop(), 0);
    }
    return `connection ${(MOST + 1).toLocaleString('en')} from an address was rejected, and no other`;
  },
  controls: {
    'lets one address use all connections': {
      change: ['src/http/core/connection-limits.ts', 'MAX_CONNECTIONS / 10;', 'MAX_CONNECTIONS;'],
      caught: /connection 1,001 from 10\.9\.8\.7/,
    },
    'counts each IPv6 address separately': {
      change: ['src/http/core/client-address.ts', '.slice(0, 4)', '.slice(0, 8)'],
      caught: /connection 1,001 from fd00:9::1 and fd00:9::2/,
    },
    'counts loopback as one client': {
      changes: [
        ['src/http/core/connection-limits.ts', 'isLocalHost(remoteAddress) || ', ''],
        ['src/http/core/connection-limits.ts', "import { isLocalHost } from '../../lib/local-host.ts';\n", ''],
      ],
      caught: /connections from loopback/,
    },
    'counts a proxy as one client': {
      change: ['src/http/core/connection-limits.ts', ' || isProxy(remoteAddress)', ''],
      caught: /connections from the proxy/,
    },
  },
});

/**
 * Opens the maximum number of connections, evenly from the given addresses, then one too many from the last address.
 */
async function holdTooMany(t: TestContext, server: TestServer, own: string[], others: string[]): Promise<void> {
  const clients = await Promise.all(own.map((from) => hold(t, server, from, MOST / own.length)));
  for (const { held } of clients) assert.deepEqual(held.statuses, { 200: MOST / own.length });
  const last = own.at(-1) as string;
  const more = await hold(t, server, last, 1);
  const name = `connection ${(MOST + 1).toLocaleString('en')} from ${own.join(' and ')}`;
  assert.deepEqual(more.held.statuses, { 503: 1 }, name);
  assert.match(more.held.refusal, /retry-after: 1.*"error":50300,"message":"[^"]*address/s, name);
  for (const from of others) {
    const other = await hold(t, server, from, 1);
    assert.deepEqual(other.held.statuses, { 200: 1 }, `${from} was locked out`);
    other.end();
  }
  for (const client of [...clients, more]) client.end();
  await eventually(async () => {
    const again = await hold(t, server, last, 1);
    again.end();
    assert.deepEqual(again.held.statuses, { 200: 1 }, 'no connection after the others closed');
  });
}

async function holdMany(t: TestContext, server: TestServer, from: string, name: string): Promise<void> {
  const { held, end } = await hold(t, server, from, MOST + 1);
  end();
  assert.deepEqual(held.statuses, { 200: MOST + 1 }, `connections from ${name}`);
}

async function hold(
  t: TestContext,
  server: TestServer,
  from: string,
  count: number,
): Promise<{ held: HeldConnections; end(): void }> {
  const host = from.includes(':') ? (from === '::1' ? '::1' : IPV6_1) : from === '127.0.0.1' ? from : CLIENT_1;
  const options = JSON.stringify({ host, port: server.port, from, count });
  const [command = '', ...rest] = [...inNetworkOf(server), process.execPath, CLIENT, options];
  const child = spawn(command, rest, { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const [line] = await once(createInterface(child.stdout), 'line');
  return { held: JSON.parse(line), end: () => child.stdin.end() };
}
