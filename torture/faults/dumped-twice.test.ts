// Copies of one database that continue next to the original: two PostgreSQL copies, and one PostgreSQL copy of a SQLite
// store. CREATE DATABASE … TEMPLATE creates the same copy as a dump and its restore.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { makeEmptyDatabase, queryPostgres } from '../../testing/postgres.ts';
import { startReceiver } from '../../testing/receiver.ts';
import { callerOf, post, send } from '../../testing/request.ts';
import { makeFolder, type TestServer } from '../../testing/server.ts';
import { eventually } from '../../testing/until.ts';
import { fault, type Trial } from '../fault.ts';
import { whyNoPostgres } from '../on-postgres.ts';
import { runBuild, runCommand } from '../run-build.ts';

const SCOPES = 'plants:read,plants:write,admin';
/** Number of plants that each store writes before, and again after, the copy. */
const WRITES = 10;

fault({
  name: 'one dump in two databases',
  mark: 'No change number, ETag or webhook-id is used twice. An old If-Match returns 412. A reader that has seen newer changes gets 410.',
  rounds: { short: 1, full: 10, of: 'databases, each copied twice, and SQLite stores, each copied once' },
  skip: whyNoPostgres,
  async trial(trial) {
    let numbers = 0;
    for (let round = 0; round < trial.rounds; round++) {
      numbers += await copyDatabase(trial);
      numbers += await copyFromSqlite(trial);
    }
    return `${numbers.toLocaleString('en')} changes in ${5 * trial.rounds} stores, no number used twice`;
  },
  controls: {
    'does not detect that the database is a copy': {
      change: ['src/storage/postgres/database.ts', 'if (!isKnown) await', 'if (false) await'],
      caught: /was used by two stores/,
    },
    'identifies a database by its server alone': {
      change: ['src/storage/postgres/migrations/0004_own_names.sql', 'RETURN cluster ||', 'RETURN cluster; --'],
      caught: /was used by two stores/,
    },
    'skips a constant number of changes': {
      change: ['src/storage/postgres/migrations/0010_timeline.sql', `    + ('x' ||`, `    + 0 * ('x' ||`],
      caught: /was used by two stores/,
    },
    'skips no numbers in migrate': {
      change: [
        'src/storage/postgres/load-copy.ts',
        `SELECT \${calls.skip_change_numbers}`,
        `SELECT setval('\${tables.change_numbers}', \${lastSeq})`,
      ],
      caught: /was used by two stores/,
    },
  },
});

interface Continued {
  server: TestServer;
  seqs: number[];
  etags: string[];
  /** ETag of the plant that every store has changed. */
  changed: string;
}

async function copyDatabase(trial: Trial): Promise<number> {
  const url = await makeEmptyDatabase();
  const token = await createToken(trial, url);
  const receiver = await startReceiver();
  const start = (databaseUrl: string) => trial.startServer({ databaseUrl, token, env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
  const original = await start(url);
  const { status } = await callerOf(original, token.secret)('POST', '/webhooks', { url: receiver.url });
  assert.equal(status, 201);
  const dumped = await writeBefore(original);
  await receiver.count(WRITES);
  await original.stop(); // a template must not be in use
  const urls = [url, await copyOf(url, 'b'), await copyOf(url, 'c')];
  receiver.received.length = 0;
  const stores = await Promise.all(urls.map(async (one) => continueOn(await start(one), dumped)));
  assertApart(stores);
  await receiver.count(stores.length * WRITES);
  assertOnce(
    'webhook-id',
    receiver.received.map(({ headers }) => String(headers['webhook-id'])),
  );
  await assertClientsNotice(stores);
  for (const { server } of stores) await server.kill();
  await receiver.close();
  return stores.flatMap(({ seqs }) => seqs).length;
}

async function copyFromSqlite(trial: Trial): Promise<number> {
  const from = `sqlite:${join(makeFolder(), 'plants.db')}`;
  const to = await makeEmptyDatabase();
  const token = await createToken(trial, from);
  const original = await trial.startServer({ databaseUrl: from, token });
  const dumped = await writeBefore(original);
  await runCommand(trial.launcher, ['migrate', '--from', from, '--to', to], { DATABASE_URL: from });
  const copy = await trial.startServer({ databaseUrl: to, token });
  const stores = await Promise.all([original, copy].map((server) => continueOn(server, dumped)));
  assertApart(stores);
  await assertClientsNotice(stores);
  for (const { server } of stores) await server.kill();
  return stores.flatMap(({ seqs }) => seqs).length;
}

/** Creates the first plants, and returns the number of the last change. */
async function writeBefore(server: TestServer): Promise<number> {
  for (let id = 0; id < WRITES; id++) await post(server, `{"id":${id},"name":"before the dump"}`);
  const changes = await readChanges(server, 0);
  assert.equal(changes.length, WRITES);
  return changes.at(-1) as number;
}

async function continueOn(server: TestServer, dumped: number): Promise<Continued> {
  const call = callerOf(server, server.secret);
  const answers = [await call('PUT', '/plants/0', { name: `after the dump ${server.port}` })];
  for (let n = 0; n < WRITES; n++) answers.push(await post(server, `{"id":${WRITES + n},"name":"after the dump"}`));
  for (const { status, body } of answers) assert.equal(status, 200, body);
  const etags = answers.map(({ headers }) => String(headers.etag));
  return { server, seqs: await readChanges(server, dumped), etags, changed: etags[0] as string };
}

/** Reads the changes as a client does that was up to date when the copy was created. */
async function readChanges(server: TestServer, after: number): Promise<number[]> {
  const { status, body } = await callerOf(server, server.secret)('GET', `/events?after=${after}&limit=1000`);
  assert.equal(status, 200, body);
  return (JSON.parse(body) as { seq: number }[]).map(({ seq }) => seq);
}

function assertApart(stores: Continued[]): void {
  assertOnce(
    'change number',
    stores.flatMap(({ seqs }) => seqs),
  );
  assertOnce(
    'ETag',
    stores.flatMap(({ etags }) => etags),
  );
  for (const seq of stores.flatMap(({ seqs }) => seqs)) assert.ok(Number.isSafeInteger(seq), `${seq} is not exact`);
}

function assertOnce(what: string, given: (string | number)[]): void {
  const twice = given.find((one, at) => given.indexOf(one) !== at);
  assert.equal(twice, undefined, `the ${what} ${twice} was used by two stores`);
}

/** Checks that a store rejects another store's ETag, and returns 410 for change numbers that it skipped. */
async function assertClientsNotice(stores: Continued[]): Promise<void> {
  for (const { server, seqs } of stores) {
    const call = callerOf(server, server.secret);
    for (const other of stores.filter((one) => one.server !== server)) {
      const headers = { authorization: `Bearer ${server.secret}`, 'content-type': 'application/json' };
      const body = '{"name":"a lost update"}';
      const sent = { method: 'PUT', path: '/plants/0', headers: { ...headers, 'if-match': other.changed }, body };
      assert.equal((await send(server.port, sent)).status, 412, 'an ETag of another store was accepted');
      const last = other.seqs.at(-1) as number;
      if (last > (seqs.at(-1) as number)) continue;
      const { status } = await call('GET', `/events?after=${last}`);
      assert.equal(status, 410, `a client that saw change ${last} of another store got ${status}`);
    }
  }
}

async function copyOf(url: string, suffix: string): Promise<string> {
  const name = new URL(url).pathname.slice(1);
  const admin = url.replace(/[^/]+$/, 'postgres');
  await eventually(() => queryPostgres(admin, `CREATE DATABASE ${name}_${suffix} TEMPLATE ${name}`));
  return `${url}_${suffix}`;
}

/** Creates the store and a token with the build under test, because another build would prepare the database for it. */
async function createToken({ launcher }: Trial, databaseUrl: string): Promise<{ secret: string; id: string }> {
  await runBuild(launcher, ['serve'], { env: { DATABASE_URL: databaseUrl } });
  const printed = await runCommand(launcher, ['token', 'create', '--name', 'x', '--scopes', SCOPES], {
    DATABASE_URL: databaseUrl,
  });
  return { secret: printed.trim(), id: '' };
}
