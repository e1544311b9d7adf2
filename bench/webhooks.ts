// Webhooks under load: how many deliveries a second one node makes and what each costs, with one webhook and a long
// backlog, and with very many webhooks of which most hang. Memory has to stay flat, whatever waits.

import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../src/commands/open.ts';
import { readDatabase } from '../src/config.ts';
import { mintWebhookSecret } from '../src/message.ts';
import { issueToken } from '../src/token.ts';
import { mintWebhookId } from '../src/webhook.ts';
import { startPostgres } from '../test/postgres.ts';
import { plantAt } from './plants.ts';

const BACKLOG = Number(process.env.BENCH_PLANTS ?? 100_000);
const WEBHOOKS = 1000;
const GOOD = 10;
const SECONDS = 20;
const launcher = join(import.meta.dirname, '../bin/plant-store.js');
let nextId = 1n;

const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'));
const receiver = fork(join(import.meta.dirname, 'receiver.ts'));
let received = 0;
const [{ port }] = (await once(receiver, 'message')) as [{ port: number }];
receiver.on('message', (message: { received: number }) => {
  received = message.received ?? received;
});
const postgres = await startPostgres();

try {
  for (const [name, url] of [
    ['SQLite', `sqlite:${join(folder, 'plants.db')}`],
    ['PostgreSQL', postgres.url],
  ] as const) {
    console.log(`${name}\n`);
    await measure('1 webhook', url, ['/'], BACKLOG);
    const many = Array.from({ length: WEBHOOKS }, (_, n) => (n < GOOD ? `/${n}` : `/hang/${n}`));
    await measure(`${GOOD} good of ${WEBHOOKS}, the others hang`, url, many, 1000);
    await measure(
      `${WEBHOOKS} good webhooks`,
      url,
      many.map((_, n) => `/${n}`),
      1000,
    );
    console.log('');
  }
} finally {
  receiver.kill();
  await postgres.remove();
  rmSync(folder, { recursive: true });
}

/** So many changes wait when the server starts; it is watched while it delivers them. */
async function measure(what: string, url: string, paths: string[], changes: number): Promise<void> {
  await prepare(url, paths, changes);
  const server = spawn(process.execPath, ['--max-semi-space-size=8', launcher, 'serve'], {
    env: { PATH: process.env.PATH, PORT: '0', DATABASE_URL: url, WEBHOOK_ALLOW_PRIVATE: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface(server.stdout)) if (line.includes('"url"')) break;
  const good = paths.filter((path) => !path.startsWith('/hang')).length;
  const [firstMs, first, usedMs] = [performance.now(), received, cpuMs(server)];
  let peakKib = 0;
  while (performance.now() - firstMs < SECONDS * 1000 && received - first < good * changes) {
    await sleep(50);
    peakKib = Math.max(peakKib, residentKib(server));
  }
  const [seconds, count] = [(performance.now() - firstMs) / 1000, received - first];
  const waiting = paths.length * changes - count;
  console.log(
    `  ${what.padEnd(36)} ${String(Math.round(count / seconds)).padStart(6)} deliveries/s ${String(Math.round(((cpuMs(server) - usedMs) * 1000) / count)).padStart(6)} µs each` +
      `  ${Math.round(peakKib / 1024)} MiB at most  ${waiting.toLocaleString('en')} still wait`,
  );
  server.kill('SIGTERM');
  await once(server, 'exit');
}

async function prepare(url: string, paths: string[], changes: number): Promise<void> {
  const store = await openStore(readDatabase(url, {}), { role: 'command', observe: () => {}, onFailure: () => {} });
  for (const { id } of await store.listWebhooks()) await store.removeWebhook(id);
  await issueToken(store, { name: 'bench', scopes: ['admin'], expiresMs: null }, Date.now());
  for (let n = 0; n < paths.length; n += 100) {
    await Promise.all(
      paths.slice(n, n + 100).map((path) =>
        store.addWebhook({
          id: mintWebhookId(),
          url: `http://127.0.0.1:${port}${path}`,
          events: ['plant.created'],
          secret: mintWebhookSecret(),
          createdMs: Date.now(),
        }),
      ),
    );
  }
  for (let n = 0; n < changes; n += 5000) {
    const plants = Array.from({ length: Math.min(5000, changes - n) }, (_, at) => {
      const { name } = plantAt(n + at);
      return { id: nextId++, name };
    });
    await store.import(plants, { tokenId: 'cli' });
  }
  await store.close();
}

function cpuMs({ pid }: ChildProcess): number {
  const [utime = 0, stime = 0] =
    readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ').slice(11, 13).map(Number) ?? [];
  return ((utime + stime) * 1000) / Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout);
}

function residentKib({ pid }: ChildProcess): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
