// Tests connections by URLs that the driver alone does not support: sockets, several hosts, and requirements on the server.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { piped } from '../../../testing/command-line.ts';
import { freePort } from '../../../testing/free-port.ts';
import { makeDatabase, needsPostgres, openPostgres, queryPostgres } from '../../../testing/postgres.ts';
import { makeFolder } from '../../../testing/server.ts';
import { startTestService } from '../../../testing/service.ts';
import { until } from '../../../testing/until.ts';

const BY = { tokenId: 'tok_1' };
const SECRET = 'Tr0ub4dor';

/** Returns the URL of a new database, and its parts. */
async function makeParts(): Promise<{ url: string; name: string; port: string; folder: string }> {
  const url = await makeDatabase();
  const { port, pathname } = new URL(url);
  const [row] = await queryPostgres(url, 'SHOW unix_socket_directories');
  return { url, name: pathname.slice(1), port, folder: String(row?.unix_socket_directories) };
}

/** Uses each kind of connection: the pool, an export, and LISTEN. */
async function useStore(url: string, directUrl: string): Promise<void> {
  const listening = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`;
  const store = await openPostgres(url);
  try {
    await store.create({ id: 1n, name: 'Ficus' }, BY);
    const snapshot = await store.export();
    assert.deepEqual(await Array.fromAsync(snapshot.plants), [{ id: 1n, name: 'Ficus' }]);
    await until(async () => (await queryPostgres(directUrl, listening)).length === 1);
  } finally {
    await store.close();
  }
}

suite('URLs of PostgreSQL', needsPostgres, () => {
  test('a store connects through the folder of a socket, in both forms', async () => {
    const first = await makeParts();
    await useStore(`postgres:///${first.name}?host=${first.folder}&port=${first.port}&user=postgres`, first.url);
    const { name, port, folder, url } = await makeParts();
    const host = encodeURIComponent(folder);
    await useStore(`postgres://postgres@${host}:${port}/${name}?sslmode=verify-full`, url); // a socket has no TLS
  });

  test('a command takes the user from PGUSER, and without it the user of the system', async () => {
    const { name, port, folder } = await makeParts();
    const DATABASE_URL = `postgres:///${name}?host=${folder}&port=${port}`;
    const { status, stderr } = await piped(['token', 'list'], { DATABASE_URL, PGUSER: 'postgres' });
    assert.deepEqual([status, stderr], [0, '']);
    const other = await piped(['token', 'list'], { DATABASE_URL, USER: 'postgres' });
    assert.equal(other.status, 1);
    assert.match(
      other.stderr,
      /^plant-store: Cannot use postgres:\/\/\/\w+\?host=\S+: role "(?!postgres")[^"]+" does not exist\n$/,
    );
  });

  test('a store uses the second host if the first one is down', async () => {
    const { url, name, port } = await makeParts();
    await useStore(`postgres://postgres@127.0.0.1:${await freePort()},127.0.0.1:${port}/${name}`, url);
  });

  test('migrate uses the second host if the first one is down', async () => {
    const { name, port } = await makeParts();
    const service = await startTestService();
    await service.store.create({ id: 1n, name: 'Ficus' }, BY);
    const to = `postgres:///${name}?user=postgres&host=127.0.0.1,127.0.0.1&port=${await freePort()},${port}`;
    const { status, stdout, stderr } = await piped(['migrate', '--from', service.databaseUrl, '--to', to]);
    assert.equal(status, 0, stderr);
    assert.equal(JSON.parse(stdout).plants, 1);
  });

  test('a database that is only read does not meet read-write, but primary', async () => {
    const { url, name } = await makeParts();
    await queryPostgres(url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await assert.rejects(
      openPostgres(`${url}?target_session_attrs=read-write`),
      /^UserError: Cannot reach postgres:\S+: the server is read-only\. Check the URL/,
    );
    await useStore(`${url}?target_session_attrs=primary`, url);
  });

  test('if no host accepts, the message has the reason of each host and no password', async () => {
    const [first, second] = [await freePort(), await freePort()];
    const hosts = `127.0.0.1:${first},127.0.0.1:${second}`;
    const DATABASE_URL = `postgres://postgres:${SECRET}@${hosts}/plants?target_session_attrs=read-write`;
    const { status, stderr } = await piped(['serve'], { DATABASE_URL });
    assert.equal(status, 1);
    const reason = (port: number) => `127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}`;
    const reasons = `${reason(first)}; ${reason(second)}`;
    const advice = 'Check the URL, and that PostgreSQL is running.';
    assert.equal(stderr, `plant-store: Cannot reach postgres://${hosts}/plants: ${reasons}. ${advice}\n`);
  });

  test('a database that does not exist ends the attempts', async () => {
    const { port } = await makeParts();
    const url = `postgres://postgres@127.0.0.1:${port},127.0.0.1:${port}/nowhere`;
    await assert.rejects(openPostgres(url), /^UserError: Cannot use \S+\/nowhere: database "nowhere" does not exist$/);
  });

  test('an invalid URL is one line and exit status 2', async () => {
    const folder = makeFolder();
    for (const url of [`postgres://u:${SECRET}@a:1,b:2,c/plants?host=a,b`, `postgres://u:${SECRET}@a,b`]) {
      for (const args of [['serve'], ['token', 'list'], ['migrate', '--from', `sqlite:${folder}/x.db`, '--to', url]]) {
        const { status, stderr } = await piped(args, { DATABASE_URL: url });
        assert.equal(status, 2);
        assert.match(stderr, /^plant-store: (DATABASE_URL|--to) (has|must be) [^\n]+\n$/);
        assert.ok(!stderr.includes(SECRET), stderr);
      }
    }
  });
});
