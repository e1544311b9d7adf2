// Webhooks with targets that the operator has not allowed, in any spelling and with names that later resolve elsewhere.
// A listener on every address of this machine counts the connections.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { startReceiver } from '../../testing/receiver.ts';
import { addAdmin, besideServer, makeFolder, needs, type TestServer } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import { fault, type Trial } from '../fault.ts';
import type { Random } from '../random.ts';
import { startNameServer, whyNoNames } from '../security/name-server.ts';

/** A public address that is never contacted, because the name resolves elsewhere by then. */
const PUBLIC = '93.184.215.14';
const NEVER_HOSTS = [
  ...['0.0.0.0', '0', '[::]', '[::ffff:127.0.0.1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]'],
  ...['[64:ff9b:1::7f00:1]', '[2606:4700::5efe:127.0.0.1]', '[fec0::1]', '192.0.0.192', '198.18.0.1', '224.0.0.1'],
  '255.255.255.255',
];
const HOSTS = [
  ...NEVER_HOSTS,
  ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '127.0.0.1.', 'localhost', '[::1]', '10.0.0.1'],
  ...['172.16.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '[fe80::1]', '[fc00::1]', '[2001:0:7f00:1::]'],
  ...['168.63.129.16', '0xa83f8110', '161.26.0.10', '166.9.48.1'],
];
const NAMES: Record<string, (before: number) => string[]> = {
  'loopback.torture.test': () => ['127.0.0.1'],
  'loopback6.torture.test': () => ['::1'],
  'mapped.torture.test': () => ['::ffff:127.0.0.1'],
  'mixed.torture.test': () => [PUBLIC, '127.0.0.1'],
  'metadata.torture.test': () => ['169.254.169.254'],
  'azure.torture.test': () => ['168.63.129.16'],
};
const REBINDING = 'rebinding.torture.test';

fault({
  name: 'SSRF through a webhook URL',
  mark: 'The server never connects to a private target unless the operator allows it.',
  rounds: { short: 30, full: 1000, of: 'random spellings of loopback, plus all kinds of addresses and names' },
  async trial(trial) {
    const listener = await startListener();
    const names = whyNoNames();
    const tried = await tryForbidden(trial, listener, names === undefined);
    assert.equal(listener.connections(), 0, `${listener.connections()} connections to forbidden targets`);
    await tryAllowed(trial, listener);
    listener.close();
    return `${tried.toLocaleString('en')} URLs, 0 connections${names ? `; NAMES SKIPPED: ${names}` : ''}`;
  },
  controls: {
    'treats the Azure platform address as public': {
      change: ['src/webhooks/target-guard.ts', `'168.63.129.16/32', `, ''],
      caught: /168\.63\.129\.16:\d+\/ was accepted/,
    },
    'does not check IPv4 addresses embedded in IPv6 (ISATAP)': {
      change: ['src/webhooks/target-guard.ts', ' && !isIsatap(parsed)', ''],
      caught: /5efe:127\.0\.0\.1\]:\d+\/ was accepted/,
    },
    'checks addresses when a webhook is added, but not when it connects': {
      changes: [
        ['src/webhooks/receiver-client.ts', '        lookup: lookupFor(url),\n', ''],
        ['src/webhooks/receiver-client.ts', 'if (isIP(literalOf(url))) await', 'if (false) await'],
      ],
      caught: /connections to forbidden targets/,
    },
  },
});

/** Tries forbidden URLs, and returns their number. */
async function tryForbidden(trial: Trial, { port, connections }: Listener, hasNames: boolean): Promise<number> {
  const { t, rounds, random, isFull, startServer } = trial;
  const nameServer = hasNames
    ? await startNameServer((name, before) =>
        name === REBINDING ? [before === 0 ? PUBLIC : '127.0.0.1'] : NAMES[name]?.(before),
      )
    : undefined;
  t.after(() => nameServer?.close()); // even if the trial fails, since the next one needs its port
  const trace = join(makeFolder(), 'connects');
  const tracer = isFull && !needs('strace').skip ? ['strace', '-f', '-qq', '-e', 'trace=connect', '-o', trace] : [];
  const server = await startServer({ wrapper: [...(nameServer?.wrapper ?? []), ...tracer] });
  const { call } = await addAdmin(server);
  const spelled = Array.from({ length: rounds }, () => spellLoopback(random));
  const hosts = [...HOSTS, ...ownHosts(), ...(nameServer ? Object.keys(NAMES) : []), ...spelled];
  const urls = hosts.flatMap((host) => [`https://${host}:${port}/`, `http://${host}:${port}/`]);
  for (const url of urls) {
    const { status, body } = await call('POST', '/webhooks', { url });
    assert.deepEqual([status, JSON.parse(body).error], [400, 40002], `${url} was accepted: ${body}`);
  }
  if (nameServer) {
    const { status, body } = await call('POST', '/webhooks', { url: `https://${REBINDING}:${port}/` });
    assert.equal(status, 201, `a public name was rejected: ${body}`);
  }
  // These webhooks look as if they had been allowed when they were added. Those that target this machine come first, so
  // that a broken build is detected before it connects to other machines.
  const kept = urls.filter((_, at) => at < 2 * (hosts.length - rounds) || at % Math.ceil(rounds / 30) === 0);
  const here = await plant(server, kept.filter(leadsHere));
  await call('POST', '/plants', { id: 1, name: 'a' });
  await allTried(server, here);
  assert.equal(connections(), 0, `${connections()} connections to forbidden targets`);
  const elsewhere = kept.filter((url) => !leadsHere(url));
  const ids = [...here, ...(await plant(server, elsewhere))];
  await call('POST', '/plants', { id: 2, name: 'a' });
  await allTried(server, ids);
  for (const id of isFull ? ids : [random.pick(ids), random.pick(ids)]) {
    const { delivered, error } = JSON.parse((await call('POST', `/webhooks/${id}/test`)).body);
    assert.equal(delivered, false);
    assert.match(error, /\bURL\b/, 'connections to forbidden targets');
  }
  if (nameServer) assert.ok((nameServer.asked.get(`${REBINDING} 1`) ?? 0) > 1, 'the name was not resolved again');
  await server.kill(); // strace does not forward signals
  if (tracer.length > 0) {
    const connects = readFileSync(trace, 'utf8');
    assert.match(connects, /connect\(/, 'the trace has no name lookups');
    assert.ok(!connects.includes(`htons(${port})`), 'the trace shows connections to forbidden targets');
  }
  return urls.length;
}

/**
 * Checks that allowed targets get connections, that redirects are not followed, and that some targets are never
 * allowed.
 */
async function tryAllowed({ startServer }: Trial, { port, connections }: Listener): Promise<void> {
  const server = await startServer({ env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
  const { call } = await addAdmin(server);
  const trap = `http://127.0.0.1:${port}/`;
  const codes = [301, 302, 303, 307, 308];
  const redirecting = await startReceiver((_request, response, { path }) =>
    response.writeHead(Number(path.slice(1)), { location: trap }).end(),
  );
  for (const code of codes) {
    const url = `http://127.0.0.1:${redirecting.port}/${code}`;
    assert.equal((await call('POST', '/webhooks', { url })).status, 201);
  }
  const ids = await plant(
    server,
    NEVER_HOSTS.map((host) => `http://${host}:${port}/`),
  );
  await call('POST', '/plants', { id: 1, name: 'a' });
  await redirecting.count(codes.length);
  await allTried(server, ids);
  assert.equal(connections(), 0, 'a redirect was followed, or connections to forbidden targets');
  await plant(server, [trap]);
  await call('POST', '/plants', { id: 2, name: 'a' });
  await until(
    () => connections() > 0,
    5000,
    () => 'no connection to an allowed target',
  );
  await server.kill();
}

let planted = 0;
/** Adds webhooks directly to the database, without the server's checks. Returns their ids. */
async function plant({ databaseUrl }: TestServer, urls: string[]): Promise<string[]> {
  return besideServer(databaseUrl, async (store) => {
    const ids: string[] = [];
    for (const url of urls) {
      const id = `whk_${planted++}`;
      await store.addWebhook({ id, url, events: ['plant.created'], secret: 'whsec_AAAA', createdMs: Date.now() });
      ids.push(id);
    }
    return ids;
  });
}

async function allTried({ databaseUrl }: TestServer, ids: string[]): Promise<void> {
  await besideServer(databaseUrl, async (store) => {
    for (const id of ids) await until(async () => ((await store.listDeliveries(id))[0]?.attempts ?? 0) > 0);
  });
}

/** Returns a random address of 127.0.0.0/8 in a random URL spelling. */
function spellLoopback(random: Random): string {
  const bytes = [127, random.below(256), random.below(256), 1 + random.below(254)];
  const spell = (value: number) => random.pick([String(value), `0x${value.toString(16)}`, `0${value.toString(8)}`]);
  const joined = (from: number) => bytes.slice(from).reduce((sum, byte) => sum * 256 + byte, 0);
  const parts = random.below(4);
  const v4 = [...bytes.slice(0, parts).map(spell), spell(joined(parts))].join('.');
  const [high, low] = [bytes.slice(0, 2), bytes.slice(2)].map(([a = 0, b = 0]) => (a * 256 + b).toString(16));
  const prefix = random.pick(['::ffff:', '::', '64:ff9b::', '2002:']);
  return random.pick([v4, v4, `[${prefix}${high}:${low}${prefix === '2002:' ? '::' : ''}]`]);
}

function leadsHere(url: string): boolean {
  const { hostname } = new URL(url);
  if (/^(127\.|localhost|0\.0\.0\.0|\[::1?\]|\[::ffff:7f|loopback|mapped)/.test(hostname)) return true;
  return ownHosts().includes(hostname);
}

/** Returns the private addresses of this machine. */
function ownHosts(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((all = []) => all);
  return addresses
    .filter(({ address }) => isForbidden(address))
    .map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address));
}

/** True for private addresses. The machine may also have public ones, which webhooks may use. */
function isForbidden(address: string): boolean {
  return /^(10\.|127\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|192\.0\.2\.|fe80:|f[cd]|::1$)/.test(address);
}

interface Listener {
  port: number;
  connections(): number;
  close(): void;
}

async function startListener(): Promise<Listener> {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.on('error', () => {}).destroy();
  });
  server.listen(0, '::');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, connections: () => connections, close: () => server.close() };
}
