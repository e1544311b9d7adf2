// Tests of the start of a server: settings, the database, and errors.

import assert from 'node:assert/strict';
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { type Run, runInProcess } from '../../testing/command-line.ts';
import { post, send } from '../../testing/request.ts';
import { addToken, LAUNCHER, makeFolder, needs, startServer } from '../../testing/server.ts';
import { startTestService } from '../../testing/service.ts';

function run(args: string[], env: Record<string, string> = {}): Promise<Run> {
  return runInProcess(args, { env: { LOG_LEVEL: 'silent', ...env } });
}

test('an invalid setting is one line on standard error and status 2, before anything is opened', async () => {
  const folder = makeFolder();
  const { status, stdout, stderr } = await run(['serve'], { PORT: 'x', DATABASE_URL: `sqlite:${folder}/plants.db` });
  assert.deepEqual(
    { status, stdout, stderr },
    {
      status: 2,
      stdout: '',
      stderr: 'plant-store: PORT must be an integer from 0 (any free port) to 65535, not "x"\n',
    },
  );
  assert.deepEqual(readdirSync(folder), []);
});

test('an unknown command or option ends with status 2, help and version with 0', async () => {
  for (const args of [['grow'], ['serve', '--fast'], ['token', 'create']]) assert.equal((await run(args)).status, 2);
  const help = await run(['token', 'create', '--help']);
  assert.equal(help.status, 0);
  assert.match(help.stdout, /Examples:/);
  assert.match((await run(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/);
});

test('a program that starts the server with a channel keeps the channel', async () => {
  const env = { ...process.env, PORT: '0', DATABASE_URL: `sqlite:${makeFolder()}/plants.db` };
  const child = fork(LAUNCHER, ['serve'], { env, stdio: ['ignore', 'pipe', 'ignore', 'ipc'] });
  for await (const line of child.stdout ?? []) if (String(line).includes('"listening"')) break;
  assert.equal(child.connected, true);
  child.kill();
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

test('an unknown host is reported in one line, and creates no store', async () => {
  const folder = makeFolder();
  const env = { DATABASE_URL: `sqlite:${folder}/plants.db` };
  const { status, stderr } = await run(['serve', '--host', '203.0.113.1', '--port', '0'], env);
  assert.equal(status, 2);
  assert.match(stderr, /^plant-store: Cannot listen on 203\.0\.113\.1 port 0: .*Set HOST or --host.*\n$/);
  assert.deepEqual(readdirSync(folder), []);
});

test('a port in use is reported in one line, and creates no store', async () => {
  const folder = makeFolder();
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const { status, stderr } = await run(['serve'], {
    PORT: String(port),
    DATABASE_URL: `sqlite:${folder}/plants.db`,
  });
  other.close();
  assert.deepEqual([status, readdirSync(folder)], [1, []]);
  assert.equal(stderr, `plant-store: Port ${port} on 127.0.0.1 is in use. Set PORT or --port to another port.\n`);
});

test('a database of a newer version is rejected in one line', async () => {
  const path = join(makeFolder(), 'plants.db');
  await addToken(`sqlite:${path}`, {});
  const db = new DatabaseSync(path);
  db.exec('PRAGMA user_version = 99');
  db.close();
  const { status, stderr } = await run(['serve'], { PORT: '0', DATABASE_URL: `sqlite:${path}` });
  assert.equal(status, 1);
  assert.match(stderr, /^plant-store: .*newer version.*\n$/);
});

/** Root can write everywhere unless it drops its capabilities. */
const withoutOverride = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : [];
const FIRST_FREE_PORT = '/proc/sys/net/ipv4/ip_unprivileged_port_start';
const needsPrivilege =
  existsSync(FIRST_FREE_PORT) && Number(readFileSync(FIRST_FREE_PORT, 'utf8')) > 80
    ? needs(...withoutOverride.slice(0, 1))
    : { skip: 'SKIPPED: every user can listen on port 80' };
const needsModes =
  process.platform === 'win32' ? { skip: 'SKIPPED: Windows has no file modes' } : needs(...withoutOverride.slice(0, 1));

test(
  'a database that this user cannot write, and a folder instead of a file, are rejected before the server listens',
  needsModes,
  async (t) => {
    const folder = makeFolder();
    const path = join(folder, 'plants.db');
    await addToken(`sqlite:${path}`, {});
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const refusal = (file = path) => {
      const [command = '', ...args] = [...withoutOverride, process.execPath, LAUNCHER, 'serve'];
      const env = { PATH: process.env.PATH, PORT: '0', DATABASE_URL: `sqlite:${file}` };
      return spawnSync(command, args, { env, encoding: 'utf8', timeout: 20_000 }).stderr;
    };
    t.after(() => chmodSync(folder, 0o700));
    chmodSync(path, 0o400);
    assert.match(refusal(), /^plant-store: .*plants\.db.*EACCES.*owner.*\n$/);
    chmodSync(path, 0o600);
    chmodSync(folder, 0o500);
    assert.match(refusal(), new RegExp(`^plant-store: .*${folder} .*EACCES.*owner.*\n$`));
    const user = userInfo().username;
    const missing = join(folder, 'a/b/plants.db');
    assert.equal(
      refusal(missing),
      `plant-store: Cannot read and write the folder ${folder} as the user ${user} (id ${process.getuid?.()}): EACCES. This user is its owner. Run "chmod u+rwx ${folder}".\n`,
    );
    if (process.getuid?.() === 0) {
      chownSync(folder, 65_534, 65_534);
      assert.match(
        refusal(),
        new RegExp(`${folder} as the user ${user} .*: EACCES\\. Run as its owner \\(id 65534\\)`),
      );
      chownSync(folder, 0, 0);
    }
    assert.match((await run(['serve'], { DATABASE_URL: `sqlite:${folder}` })).stderr, /is a folder.*DATABASE_URL.*\n$/);
  },
);

test('a port that needs a privilege is rejected with a port that does not', needsPrivilege, () => {
  const [command = '', ...args] = [...withoutOverride, process.execPath, LAUNCHER, 'serve', '--port', '80'];
  const env = { PATH: process.env.PATH, DATABASE_URL: `sqlite:${makeFolder()}/plants.db` };
  const { status, stderr } = spawnSync(command, args, { env, encoding: 'utf8', timeout: 20_000 });
  assert.match(
    stderr,
    /^plant-store: The system does not permit the user \S+ \(id \d+\) to listen on port 80\. .*CAP_NET_BIND_SERVICE\. Set PORT or --port to another port, such as 8080, .*\n$/,
  );
  assert.equal(status, 2);
});

test('moving the database file away ends a running server, which no longer returns 200', async () => {
  const server = await startServer();
  assert.equal((await post(server, '{"id":1,"name":"x"}')).status, 200);
  const ended = once(server.process, 'close');
  renameSync(server.databasePath, `${server.databasePath}.moved`);
  assert.equal((await post(server, '{"id":2,"name":"x"}')).status, 503);
  assert.equal((await ended)[0], 1);
  assert.match(server.output(), /was moved, replaced or deleted/);
});

test('a path that cannot hold a file is rejected in one line', async () => {
  const { status, stderr } = await run(['serve'], { PORT: '0', DATABASE_URL: `sqlite:${LAUNCHER}/plants.db` });
  assert.equal(status, 1);
  assert.match(stderr, /^plant-store: Cannot use .*plants.db: .*\n$/);
});

test('BASE_PATH prefixes every path, in Location, Link and the OpenAPI description', async () => {
  const server = await startTestService({ env: { BASE_PATH: '/store/v1/' } });
  assert.match(server.url, /\/store\/v1$/);
  const headers = { authorization: `Bearer ${server.secret}`, 'content-type': 'application/json' };
  const created = await send(server.port, {
    method: 'POST',
    path: '/store/v1/plants',
    headers,
    body: '{"id":-7,"name":"x"}',
  });
  assert.equal(created.status, 200);
  assert.equal(created.headers.location, '/store/v1/plants/-7');
  await send(server.port, { method: 'POST', path: '/store/v1/plants', headers, body: '{"id":8,"name":"x"}' });
  const page = await send(server.port, { path: '/store/v1/plants?limit=1', headers });
  const next = /^<(\/store\/v1\/plants\?[^>]+)>; rel="next"$/.exec(String(page.headers.link))?.[1];
  assert.match((await send(server.port, { path: next ?? '', headers })).body, /^\[\{"id":8,/);
  const admin = await server.addToken({ scopes: ['admin', 'plants:read'] });
  const token = await send(server.port, {
    method: 'POST',
    path: '/store/v1/tokens',
    headers: { ...headers, authorization: `Bearer ${admin.secret}` },
    body: '{"name":"x","scopes":["plants:read"]}',
  });
  assert.match(token.headers.location ?? '', /^\/store\/v1\/tokens\/tok_\w+$/);
  assert.equal((await send(server.port, { path: '/store/v1/healthz' })).status, 200);
  assert.equal((await send(server.port, { path: '/healthz' })).status, 404);
  assert.equal((await send(server.port, { path: '/store/v1/plants' })).status, 401);
  const { servers } = JSON.parse((await send(server.port, { path: '/store/v1/openapi.json' })).body);
  assert.equal(servers[0].url, `http://127.0.0.1:${server.port}/store/v1`);
  await server.stop();
});

test('a server that only stores plants does not load undici', async () => {
  const hook = `process.on('exit', () => console.error('LOADED ' + process.moduleLoadList))`;
  const server = await startServer({
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` },
  });
  assert.equal((await post(server, '{"id":1,"name":"x"}')).status, 200);
  await server.stop();
  assert.match(server.output(), /LOADED .*NativeModule http,/);
  assert.doesNotMatch(server.output(), /undici/);
});
