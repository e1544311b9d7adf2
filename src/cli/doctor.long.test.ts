// Tests of the command doctor that need servers or users of their own.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  linkSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import pg from 'pg';
import { makeCertificate, needsOpenssl } from '../../testing/certificate.ts';
import { piped, runInProcess } from '../../testing/command-line.ts';
import {
  needsPostgres,
  queryPostgres,
  startPostgres,
  type TestPostgres,
  UNPRIVILEGED,
} from '../../testing/postgres.ts';
import { makeFolder, needs, startServer } from '../../testing/server.ts';
import { prepareDatabase } from '../storage/postgres/database.ts';
import { isServerLocked } from '../storage/sqlite/server-lock.ts';
import type { CheckResult } from './doctor/finding.ts';

const isRoot = process.getuid?.() === 0;
const needsRoot = isRoot ? {} : { skip: 'SKIPPED: only root can change the owner of a file' };

type Label =
  | ('database' | 'access' | 'schema' | 'WAL' | 'content' | 'server' | 'network' | 'TLS')
  | ('durability' | 'replication' | 'connections' | 'rights' | 'backup');

/** Runs doctor and returns the exit status, and status and text of each result by its check. */
async function examine(
  databaseUrl: string,
  env: Record<string, string> = {},
  ...args: string[]
): Promise<{ status: number | null } & Partial<Record<Label, string>>> {
  const { status, stdout, stderr } = await runInProcess(['doctor', ...args], {
    env: { DATABASE_URL: databaseUrl, PORT: '0', ...env },
  });
  assert.equal(stderr, '');
  return { status, ...toFound(stdout) };
}

function toFound(stdout: string): Partial<Record<Label, string>> {
  const results: CheckResult[] = stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  return Object.fromEntries(
    results.map(({ check, status, found, advice = '' }) => [check, `${status}: ${found} | ${advice}`]),
  );
}

suite('doctor on files of a server that was killed', () => {
  let folder = '';
  let path = '';

  before(async () => {
    const server = await startServer();
    folder = join(server.databasePath, '..');
    path = server.databasePath;
    for (let id = 0; id < 20; id++) {
      await fetch(`${server.url}/plants`, {
        method: 'POST',
        headers: { authorization: `Bearer ${server.secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ id, name: `Plant ${id}` }),
      });
    }
    const beside = await piped(['doctor'], { DATABASE_URL: server.databaseUrl, PLANT_STORE_URL: server.url });
    assert.match(toFound(beside.stdout).server ?? '', /^ok: .* can store plants/);
    assert.match(toFound(beside.stdout).WAL ?? '', /^ok: .* sound \|/);
    server.process.kill('SIGKILL');
    await once(server.process, 'exit');
  });

  test('a damaged WAL is a problem', async () => {
    const other = makeFolder();
    for (const name of readdirSync(folder)) copyFileSync(join(folder, name), join(other, name));
    const wal = join(other, 'plants.db-wal');
    const bytes = readFileSync(wal);
    bytes.writeUInt32BE(~bytes.readUInt32BE(5000) >>> 0, 5000);
    writeFileSync(wal, bytes);
    const { status, WAL } = await examine(`sqlite:${other}/plants.db`);
    assert.equal(status, 1);
    assert.match(WAL ?? '', /^problem: .*plants\.db-wal is damaged \(frame \d+\) \| .*Restore it from a backup/);
  });

  test('a WAL without its index is not read, because reading would create a file', async () => {
    const other = makeFolder();
    for (const name of ['plants.db', 'plants.db-wal']) copyFileSync(join(folder, name), join(other, name));
    const { status, schema, content } = await examine(`sqlite:${other}/plants.db`);
    assert.equal(status, 0);
    assert.match(schema ?? '', /^skipped: .*-shm is missing/);
    assert.match(content ?? '', /^skipped/);
    assert.deepEqual(readdirSync(other).sort(), ['plants.db', 'plants.db-wal']);
    rmSync(join(other, 'plants.db'));
    assert.match((await examine(`sqlite:${other}/plants.db`)).database ?? '', /^problem: .* is missing, but its WAL/);
  });

  test('a second name of the file is a problem', async () => {
    const other = join(makeFolder(), 'link.db');
    linkSync(path, other);
    const { status, database } = await examine(`sqlite:${path}`);
    rmSync(other);
    assert.equal(status, 1);
    assert.match(database ?? '', /^problem: .*plants\.db has 2 names \(hard links\).* \| Stop every server/);
  });

  test('a file of another user is a problem, and stays as it is', needsRoot, async () => {
    chownSync(path, UNPRIVILEGED, UNPRIVILEGED);
    const { status, access } = await examine(`sqlite:${path}`);
    assert.equal(status, 1);
    assert.match(
      access ?? '',
      /^problem: .*-wal belongs to user 0, .* to user 65534 \| Run "chown 65534 \S+-wal" as root/,
    );
    assert.equal(statSync(`${path}-wal`).uid, 0);
  });

  test('a WAL with another group or mode stays as it is', needsRoot, async () => {
    for (const [gid, mode] of [
      [UNPRIVILEGED, 0o600],
      [0, 0o640],
    ] as const) {
      chownSync(path, 0, gid);
      chmodSync(path, mode);
      const { status, access, content } = await examine(`sqlite:${path}`);
      assert.deepEqual([status, content], [0, undefined]);
      assert.match(
        access ?? '',
        /^warning: .*-wal has group 0 and mode 600, and the database group \d+ and mode 6\d0,/,
      );
      for (const name of [`${path}-wal`, `${path}-shm`]) {
        const file = statSync(name);
        assert.deepEqual([file.gid, file.mode & 0o777], [0, 0o600]);
      }
    }
    chmodSync(path, 0o600);
    assert.match((await examine(`sqlite:${path}`)).content ?? '', /^ok/);
  });
});

test('an SQLite database without a server is read completely with --full', async () => {
  const server = await startServer();
  await server.stop();
  const { status, content } = await examine(server.databaseUrl, {}, '--full');
  assert.deepEqual([status, content?.startsWith('ok: every page')], [0, true]);
});

test('pipes in place of the files beside a database do not block doctor', needs('mkfifo'), async () => {
  const server = await startServer();
  await server.stop();
  const { databasePath, databaseUrl } = server;
  execFileSync('mkfifo', [`${databasePath}.last-backup`]);
  const noted = await piped(['doctor'], { DATABASE_URL: databaseUrl, PORT: '0' });
  assert.deepEqual(
    [noted.status, toFound(noted.stdout).backup?.startsWith('warning: the store has no backup')],
    [0, true],
  );
  rmSync(`${databasePath}.lock`, { force: true });
  execFileSync('mkfifo', [`${databasePath}.lock`]);
  assert.equal(isServerLocked(databasePath), false);
  const locked = await piped(['doctor'], { DATABASE_URL: databaseUrl, PORT: '0' });
  assert.equal(locked.status, 1);
  assert.match(toFound(locked.stdout).access ?? '', /^problem: .*\.lock is not a file \| Stop the server and move it/);
});

test('a server that cannot store plants is a problem', async () => {
  const unready = createHttpServer(({ url }, response) => {
    response.writeHead(url === '/healthz' ? 200 : 503, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ status: 'ok' }));
  }).listen(0, '127.0.0.1');
  await once(unready, 'listening');
  const { port } = unready.address() as { port: number };
  const { server } = await examine(`sqlite:${makeFolder()}/plants.db`, { PLANT_STORE_URL: `http://127.0.0.1:${port}` });
  unready.close();
  assert.match(server ?? '', /^problem: the server at .* cannot store plants: .* \| Read the service log\./);
});

test('a certificate is checked, and one that does not fit its key is a problem', needsOpenssl, async () => {
  const [one, other] = [makeFolder(), makeFolder()];
  makeCertificate(one, 'IP:127.0.0.1');
  makeCertificate(other, 'IP:127.0.0.1');
  const url = `sqlite:${one}/plants.db`;
  const tls = { HOST: '0.0.0.0', TLS_CERT: `${one}/server.crt` };
  const right = await examine(url, { ...tls, TLS_KEY: `${one}/server.key` });
  assert.match(right.TLS ?? '', /^(ok|warning): the certificate (is valid until|expires on) \d{4}-/);
  assert.match(right.network ?? '', /^ok: 0\.0\.0\.0:0, encrypted with TLS/);
  const wrong = await examine(url, { ...tls, TLS_KEY: `${other}/server.key` });
  assert.match(wrong.TLS ?? '', /^problem: .*key values mismatch/);
});

test('servers that accept a connection and never respond delay doctor by some seconds only', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket.on('error', () => {}))).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as { port: number };
  const startMs = performance.now();
  const { status, database, server } = await examine(`postgres://x@127.0.0.1:${port}/x?connect_timeout=99`, {
    PLANT_STORE_URL: `http://127.0.0.1:${port}`,
  });
  for (const socket of sockets) socket.destroy();
  silent.close();
  assert.equal(status, 1);
  assert.match(database ?? '', /^problem: cannot reach .*: timeout expired \| Check that the machine is on/);
  assert.match(server ?? '', /^warning: no response .* timed out after 5000 ms/);
  assert.ok(performance.now() - startMs < 30_000);
});

test('a PostgreSQL server that stalls after the login is a problem within some seconds', async () => {
  const sockets: Socket[] = [];
  const stalling = createServer((socket) => {
    sockets.push(socket.on('error', () => {}));
    socket.once('data', () => {
      // AuthenticationOk, BackendKeyData and ReadyForQuery
      socket.write(Buffer.from('520000000800000000' + '4b0000000c0000000100000001' + '5a0000000549', 'hex'));
    });
  }).listen(0, '127.0.0.1');
  await once(stalling, 'listening');
  const { port } = stalling.address() as { port: number };
  const startMs = performance.now();
  const { status, stdout } = await piped(['doctor'], { DATABASE_URL: `postgres://x@127.0.0.1:${port}/x`, PORT: '0' });
  for (const socket of sockets) socket.destroy();
  stalling.close();
  assert.equal(status, 1);
  const found = toFound(stdout).database ?? '';
  assert.match(found, /^problem: .* accepts connections, but has not responded within 10 s \| Check its log/);
  assert.ok(performance.now() - startMs < 20_000);
});

suite('doctor on a PostgreSQL server of its own', needsPostgres, () => {
  let postgres: TestPostgres;

  before(async () => {
    postgres = await startPostgres({ max_connections: '20' });
    await prepareDatabase(postgres.url, 'server');
  });
  after(() => postgres.remove());

  test('few free connections are a warning, and asynchronous standbys as well', async () => {
    const alone = await examine(postgres.url);
    assert.equal(alone.status, 0);
    assert.match(alone.durability ?? '', /^ok: fsync and full_page_writes are on/);
    assert.match(alone.connections ?? '', /^warning: \d+ of \d+ free, a node uses up to 27 \|/);
    assert.match(alone.replication ?? '', /^warning: no standby: a lost disk/);
    const standby = new pg.Client({ connectionString: postgres.url, replication: 'database' } as pg.ClientConfig);
    await standby.connect();
    const { replication } = await examine(postgres.url);
    await standby.end();
    assert.match(replication ?? '', /^warning: all standbys are asynchronous/);
  });

  test('a synchronous standby that is missing is a problem', async () => {
    await queryPostgres(postgres.url, `ALTER SYSTEM SET synchronous_standby_names = 'other'`);
    await queryPostgres(postgres.url, 'SELECT pg_reload_conf()');
    const { status, replication } = await examine(postgres.url);
    await queryPostgres(postgres.url, 'ALTER SYSTEM RESET synchronous_standby_names');
    await queryPostgres(postgres.url, 'SELECT pg_reload_conf()');
    assert.equal(status, 1);
    assert.match(replication ?? '', /^problem: synchronous_standby_names is "other", but no such standby is connected/);
  });

  test('settings that can lose records are a problem, and hide no other check', async () => {
    const url = `${postgres.url}?options=-c%20synchronous_commit%3Doff`;
    const { status, durability, schema } = await examine(url);
    assert.equal(status, 1);
    assert.match(durability ?? '', /^problem: synchronous_commit is off in PostgreSQL, .* \| Set it to on/);
    assert.match(schema ?? '', /^ok/);
  });

  test('a role without rights is a problem', async () => {
    await queryPostgres(postgres.url, 'CREATE ROLE reader LOGIN');
    const { status, rights, schema } = await examine(postgres.url.replace('postgres@', 'reader@'));
    assert.equal(status, 1);
    assert.match(rights ?? '', /^problem: the role reader cannot read and write the table change_times/);
    assert.match(schema ?? '', /^problem: permission denied for table plant_store_schema \| Log in as the owner/);
  });

  test('a schema of a newer version is a problem', async () => {
    await queryPostgres(postgres.url, 'INSERT INTO plant_store_schema (version, works_with) VALUES (99, 99)');
    const { status, schema } = await examine(postgres.url);
    await queryPostgres(postgres.url, 'DELETE FROM plant_store_schema WHERE version = 99');
    assert.equal(status, 1);
    assert.match(schema ?? '', /^problem: the database was changed by a newer version .* \| Upgrade Plant Store/);
  });
});
