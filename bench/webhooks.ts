// Webhooks under load: deliveries per second of one node and their cost, with one webhook and a long backlog, and with
// 1,000 webhooks of which most hang. Memory must stay flat regardless of the backlog.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../src/domain/store.ts';
import { issueToken } from '../src/domain/token.ts';
import { mintWebhookId } from '../src/domain/webhook.ts';
import { mintWebhookSecret } from '../src/webhooks/signed-message.ts';
import { besideServer } from '../testing/launch.ts';
import { startDatabase } from './database.ts';
import { cpuUsOf, rssMibOf } from './measure.ts';
import { plantAt } from './plants.ts';
import { makeBenchFolder, startServer } from './server.ts';

const BACKLOG = Number(process.env.BENCH_PLANTS ?? 100_000);
const WEBHOOKS = 1000;
const GOOD = 10;
const SECONDS = 20;
let nextId = 1n;

const folder = makeBenchFolder();
const receiver = fork(join(import.meta.dirname, 'receiver.ts'));
let received = 0;
const [{ port }] = (await once(receiver, 'message')) as [{ port: number }];
receiver.on('message', (message: { received: number }) => {
  received = message.received ?? received;
});
const postgres = await startDatabase();

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
}

/** Prepares a backlog of changes, starts the server, and measures it while it delivers them. */
async function measure(what: string, url: string, paths: string[], changes: number): Promise<void> {
  await besideServer(url, (store) => prepare(store, paths, changes));
  const { pid, stop } = await startServer(url, { WEBHOOK_ALLOW_PRIVATE: '1' });
  const good = paths.filter((path) => !path.startsWith('/hang')).length;
  const [firstMs, first, usedUs] = [performance.now(), received, cpuUsOf(pid) ?? 0];
  let mostMib = 0;
  while (performance.now() - firstMs < SECONDS * 1000 && received - first < good * changes) {
    await sleep(50);
    mostMib = Math.max(mostMib, rssMibOf(pid) ?? 0);
  }
  const [seconds, count] = [(performance.now() - firstMs) / 1000, received - first];
  const waiting = paths.length * changes - count;
  console.log(
    `  ${what.padEnd(36)} ${String(Math.round(count / seconds)).padStart(6)} deliveries/s ${String(Math.round(((cpuUsOf(pid) ?? 0) - usedUs) / count)).padStart(6)} µs each` +
      `  ${Math.round(mostMib)} MiB peak  ${waiting.toLocaleString('en')} pending`,
  );
  await stop();
}

async function prepare(store: Store, paths: string[], changes: number): Promise<void> {
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
}
