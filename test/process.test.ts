// The process as its operator sees it: settings, refusals, signals, terminal, logs.

import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, renameSync, statSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { post, send, sendRaw } from './request.ts';
import { LAUNCHER, makeFolder, needsCurl, query, startServer } from './server.ts';

function run(
  args: string[],
  env: Record<string, string> = {},
): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [LAUNCHER, ...args], {
    env: { PATH: process.env.PATH, ...env },
    encoding: 'utf8',
    timeout: 20_000,
  });
}

test('a bad setting is one line on standard error and exit status 2, before anything is opened', () => {
  const folder = makeFolder();
  const { status, stdout, stderr } = run(['serve'], { PORT: 'x', DATABASE_URL: `sqlite:${folder}/plants.db` });
  assert.deepEqual(
    { status, stdout, stderr },
    {
      status: 2,
      stdout: '',
      stderr: 'plant-store: PORT must be a number from 0 (any free port) to 65535, not "x"\n',
    },
  );
  assert.deepEqual(readdirSync(folder), []);
});

test('an unknown command or option is exit status 2, help and version are 0', () => {
  assert.equal(run(['grow']).status, 2);
  assert.equal(run(['serve', '--fast']).status, 2);
  assert.equal(run(['token', 'create']).status, 2);
  const help = run(['token', 'create', '--help']);
  assert.equal(help.status, 0);
  assert.match(help.stdout, /Examples:/);
  assert.match(run(['--version']).stdout, /^\d+\.\d+\.\d+\n$/);
});

test('a port that is in use is refused clearly', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const { status, stderr } = run(['serve'], { PORT: String(port), DATABASE_URL: `sqlite:${makeFolder()}/plants.db` });
  other.close();
  assert.equal(status, 1);
  assert.equal(stderr, `plant-store: Port ${port} of 127.0.0.1 is in use: set PORT to another one\n`);
});

test('a second server on the same file is refused, and the first one goes on', async () => {
  const server = await startServer();
  const { status, stderr } = run(['serve'], { PORT: '0', DATABASE_URL: `sqlite:${server.databasePath}` });
  assert.equal(status, 1);
  assert.match(stderr, /^plant-store: Another server is using .*: stop it, or set DATABASE_URL to another file\n$/);
  assert.equal((await post(server, '{"id":1,"name":"x"}')).status, 200);
  assert.equal(await server.stop(), 0);
});

test('a database of a newer version is refused in one line', () => {
  const path = join(makeFolder(), 'plants.db');
  run(['token', 'create', '--name', 'x'], { DATABASE_URL: `sqlite:${path}` });
  const db = new DatabaseSync(path);
  db.exec('PRAGMA user_version = 7');
  db.close();
  const { status, stderr } = run(['serve'], { PORT: '0', DATABASE_URL: `sqlite:${path}` });
  assert.equal(status, 1);
  assert.match(stderr, /^plant-store: .* was written by a newer version .*\n$/);
});

test('a file or folder of somebody else, and a folder instead of a file, are refused before it listens', {
  skip: process.getuid?.() !== 0 && 'SKIPPED: only root can be two users',
}, () => {
  const folder = makeFolder();
  const path = join(folder, 'plants.db');
  run(['token', 'create', '--name', 'x'], { DATABASE_URL: `sqlite:${path}` });
  const asNobody = (databasePath: string) =>
    spawnSync(process.execPath, [LAUNCHER, 'serve'], {
      env: { PATH: process.env.PATH, PORT: '0', DATABASE_URL: `sqlite:${databasePath}` },
      encoding: 'utf8',
      uid: 65534,
      timeout: 20_000,
    });
  const message =
    /^plant-store: .* cannot be written by this user \(EACCES\): run as its owner, or change its owner\n$/;
  assert.match(asNobody(path).stderr, message);
  chmodSync(folder, 0o777);
  assert.match(asNobody(path).stderr, message);
  assert.match(
    run(['serve'], { DATABASE_URL: `sqlite:${folder}` }).stderr,
    /is a folder: set DATABASE_URL to a file in it\n$/,
  );
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('a file that is moved away under a running server ends it: no 200 for what has no place', async () => {
  const server = await startServer();
  assert.equal((await post(server, '{"id":1,"name":"x"}')).status, 200);
  const exited = once(server.process, 'exit');
  renameSync(server.databasePath, `${server.databasePath}.moved`);
  assert.equal((await post(server, '{"id":2,"name":"x"}')).status, 503);
  assert.equal((await exited)[0], 1);
  assert.match(server.output(), /was moved, replaced or deleted/);
});

test('a place where no file can be is refused in one line', () => {
  const { status, stderr } = run(['serve'], { PORT: '0', DATABASE_URL: `sqlite:${LAUNCHER}/plants.db` });
  assert.equal(status, 1);
  assert.match(stderr, /^plant-store: Cannot use .*plants.db: .*\n$/);
});

test('SIGTERM under load: every request is answered, no reset, exit status 0, everything stored', async () => {
  const server = await startServer();
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const acknowledged: number[] = [];
  const resets: string[] = [];
  let refused = 0;
  let nextId = 0;
  let stopping = false;
  const clients = Array.from({ length: 32 }, async () => {
    while (refused === 0 || !stopping) {
      const id = nextId++;
      const outcome = await create(server, agent, id);
      if (outcome === 200) acknowledged.push(id);
      else if (outcome === 'ECONNREFUSED') return void refused++;
      else resets.push(String(outcome));
    }
  });
  await setTimeout(500);
  stopping = true;
  const startMs = performance.now();
  const status = await server.stop();
  await Promise.all(clients);
  assert.equal(status, 0);
  assert.ok(performance.now() - startMs < 10_000);
  assert.deepEqual(resets, []);
  assert.ok(acknowledged.length > 100, `only ${acknowledged.length} were stored`);
  assert.equal(existsSync(`${server.databasePath}-wal`), false, 'it did not close the database');
  const stored = new Set(query(server.databasePath, 'SELECT id FROM plants').map(({ id }) => Number(id)));
  assert.deepEqual(
    acknowledged.filter((id) => !stored.has(id)),
    [],
  );
});

function create(
  { port, secret }: { port: number; secret: string },
  agent: Agent,
  id: number,
): Promise<number | string> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const sent = request(
      { port, host: '127.0.0.1', path: '/plants', method: 'POST', headers, agent },
      (answer: IncomingMessage) => {
        answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
      },
    );
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.end(JSON.stringify({ id, name: 'x' }));
  });
}

test('SIGTERM answers everything that clients have sent behind each other', async () => {
  const server = await startServer();
  const headers = `Host: x\r\nAuthorization: Bearer ${server.secret}\r\nContent-Type: application/json\r\n`;
  const received = Array.from({ length: 8 }, (_, client) => {
    const socket = connect(server.port, '127.0.0.1');
    const bodies = Array.from({ length: 20 }, (_, n) => `{"id":${100 + client * 20 + n},"name":"x"}`);
    const requests = bodies.map(
      (body) => `POST /plants HTTP/1.1\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`,
    );
    socket.write(requests.join(''));
    return text(socket);
  });
  while (query(server.databasePath, 'SELECT * FROM plants').length === 0) await setTimeout(1);
  assert.equal(await server.stop(), 0);
  const answered = (await Promise.all(received)).join('').match(/HTTP\/1.1 200/g)?.length;
  assert.equal(answered, query(server.databasePath, 'SELECT * FROM plants').length);
});

test('while it stops it is not ready but still answers, and a second signal ends it at once', async () => {
  const server = await startServer();
  const headers = `Host: x\r\nAuthorization: Bearer ${server.secret}\r\nContent-Type: application/json\r\n`;
  const waiting = [
    'GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n',
    `POST /plants HTTP/1.1\r\n${headers}Content-Length: 19\r\n\r\n{"id":1,"name":"x"}`,
  ].map((bytes) => {
    const socket = connect(server.port, '127.0.0.1');
    const answer = text(socket);
    return { finish: () => socket.write(bytes), answer };
  });
  const hanging = connect(server.port, '127.0.0.1');
  hanging.on('error', () => {});
  hanging.write('POST /plants HTTP/1.1\r\n');
  await setTimeout(200);
  server.process.kill('SIGTERM');
  while (!server.output().includes('"kind":"stopping"')) await setTimeout(5);
  for (const { finish } of waiting) finish();
  const [ready = '', created = ''] = await Promise.all(waiting.map(({ answer }) => answer));
  assert.match(ready, /^HTTP\/1.1 503 .*connection: close.*"error":50300/is);
  assert.match(ready, /^retry-after: 1$/im);
  assert.match(created, /^HTTP\/1.1 200 .*connection: close.*\{"name":"x"\}/is);
  const startMs = performance.now();
  assert.equal(await server.stop(), null, 'killed');
  assert.ok(performance.now() - startMs < 1000);
});

test('a client that never ends its request does not keep it from stopping', { timeout: 30_000 }, async () => {
  const server = await startServer();
  const answer = sendRaw(server.port, 'POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n', 30_000).catch(
    String,
  );
  await setTimeout(100);
  const startMs = performance.now();
  assert.equal(await server.stop(), 0);
  assert.ok(performance.now() - startMs < 10_000);
  await answer;
});

test('SIGINT stops it too', async () => {
  const server = await startServer();
  server.process.kill('SIGINT');
  assert.equal((await once(server.process, 'exit'))[0], 0);
});

test('BASE_PATH stands before every path and in Location', async () => {
  const server = await startServer({ env: { BASE_PATH: '/store/v1/' } });
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
  assert.equal((await send(server.port, { path: '/store/v1/healthz' })).status, 200);
  assert.equal((await send(server.port, { path: '/healthz' })).status, 404);
  assert.equal((await send(server.port, { path: '/store/v1/plants' })).status, 401);
  const { servers } = JSON.parse((await send(server.port, { path: '/store/v1/openapi.json' })).body);
  assert.deepEqual(servers, [{ url: '/store/v1' }]);
  await server.stop();
});

test('piped, it logs JSON lines, one for each request only under ACCESS_LOG, and never a secret', async () => {
  const server = await startServer({ env: { ACCESS_LOG: '1' } });
  await post(server, '{"id":1,"name":"x"}', { 'x-request-id': 'mine' });
  await send(server.port, {
    path: `/plants?access_token=${server.secret}`,
    headers: { authorization: `Bearer ${server.secret}x` },
  });
  await server.stop();
  const lines = server
    .output()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const requests = lines.filter(({ kind }) => kind === 'request');
  assert.deepEqual(
    requests.map(({ requestId, method, path, status }) => [requestId === 'mine', method, path, status]),
    [
      [true, 'POST', '/plants', 200],
      [false, 'GET', '/plants', 401],
    ],
  );
  assert.match(requests[0].tokenId, /^tok_/);
  assert.deepEqual(
    lines.filter(({ kind }) => kind !== 'request').map(({ kind }) => kind),
    ['listening', 'stopping', 'stopped'],
  );
  assert.doesNotMatch(server.output(), /pst_/);

  const quiet = await startServer();
  await post(quiet, '{"id":1,"name":"x"}');
  await quiet.stop();
  assert.doesNotMatch(quiet.output(), /"kind":"request"/);
});

test('a log that nobody reads does not stop the service', async () => {
  const folder = makeFolder();
  const first = await startServer({ folder });
  await first.stop();
  const env = { PATH: process.env.PATH, PORT: '0', ACCESS_LOG: '1', DATABASE_URL: `sqlite:${first.databasePath}` };
  const child = spawn(process.execPath, [LAUNCHER, 'serve'], { env });
  const [line] = await once(child.stdout, 'data');
  child.stdout.pause();
  const port = Number(/:(\d+)"/.exec(String(line))?.[1]);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let id = 0; id < 1500; id++) assert.equal(await create({ port, secret: first.secret }, agent, id), 200);
  agent.destroy();
  const exited = once(child, 'exit');
  child.kill();
  assert.equal((await exited)[0], 0);
});

test('a log that cannot be written does not stop the service', {
  skip: !existsSync('/dev/full') && 'SKIPPED: needs /dev/full',
}, async () => {
  const server = await startServer();
  await server.stop();
  const env = {
    PATH: process.env.PATH,
    PORT: String(server.port),
    ACCESS_LOG: '1',
    DATABASE_URL: `sqlite:${server.databasePath}`,
  };
  const child = spawn('sh', ['-c', `exec "${process.execPath}" "${LAUNCHER}" serve >/dev/full`], { env });
  let answer = await post(server, '{"id":1,"name":"x"}').catch(() => undefined);
  for (let tries = 0; !answer && tries < 50; tries++) {
    await setTimeout(100);
    answer = await post(server, '{"id":1,"name":"x"}').catch(() => undefined);
  }
  assert.equal(answer?.status, 200);
  child.kill();
  assert.equal((await once(child, 'exit'))[0], 0);
});

test('piped, a first start makes no token that nobody would see, and says how to make one', async () => {
  const env = { PATH: process.env.PATH, PORT: '0', DATABASE_URL: `sqlite:${makeFolder()}/plants.db` };
  const child = spawn(process.execPath, [LAUNCHER, 'serve'], { env });
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += chunk;
    if (printed.includes('token create')) child.kill();
  }
  assert.match(printed, /"kind":"no_token".*plant-store -- token create --name NAME/);
  assert.doesNotMatch(printed, /pst_/);
});

const hasScript = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0;
const needsTerminal = hasScript ? {} : { skip: 'SKIPPED: needs the command script of util-linux' };

test('on a terminal the first start shows a token once, and a curl line that works as it is', {
  ...needsTerminal,
  ...needsCurl,
}, async () => {
  const env = { PATH: process.env.PATH, TERM: 'xterm', PORT: '0', DATABASE_URL: `sqlite:${makeFolder()}/plants.db` };
  const onTerminal = async (whileItRuns: (shown: string) => void): Promise<string> => {
    const child = spawn('script', ['-qec', `"${process.execPath}" "${LAUNCHER}" serve`, '/dev/null'], { env });
    let shown = '';
    let isReady = false;
    for await (const chunk of child.stdout) {
      shown += chunk;
      if (isReady || !shown.includes('Ctrl-C')) continue;
      isReady = true;
      whileItRuns(shown);
      child.stdin.write('\x03');
    }
    return shown;
  };

  const first = await onTerminal((shown) => {
    const curl = /^ *(curl .*)$/m.exec(shown.replaceAll('\r', ''))?.[1] ?? '';
    const answer = execFileSync('sh', ['-c', curl.replace('curl', 'curl -s')], { encoding: 'utf8' });
    assert.equal(answer, '{"name":"Monstera deliciosa","tag":"tropical"}');
  });
  assert.match(first, /Address\s+http:\/\/127\.0\.0\.1:\d+/);
  assert.match(first, /Database\s+sqlite:/);
  assert.match(first, /Stopped/);
  assert.equal(new Set(first.match(/pst_\w{36}/g)).size, 1);

  const second = await onTerminal((shown) => {
    const [, toToken = '', curl = ''] = /^ *(TOKEN=.*)\n *(curl .*)$/m.exec(shown.replaceAll('\r', '')) ?? [];
    const commands = `${toToken}\n${curl.replace('curl', 'curl -s')}`;
    const answer = execFileSync('sh', ['-c', commands], { cwd: dirname(dirname(LAUNCHER)), env, encoding: 'utf8' });
    assert.equal(answer, '{"name":"Monstera deliciosa","tag":"tropical"}', 'a replay with a token of its own');
  });
  assert.doesNotMatch(second, /pst_/);
});

test('closing the terminal is a clean stop', needsTerminal, async () => {
  const folder = makeFolder();
  const env = { PATH: process.env.PATH, TERM: 'xterm', PORT: '0', DATABASE_URL: `sqlite:${folder}/plants.db` };
  const terminal = spawn('script', ['-qec', `"${process.execPath}" "${LAUNCHER}" serve`, '/dev/null'], { env });
  let shown = '';
  for await (const chunk of terminal.stdout.iterator({ destroyOnReturn: false })) {
    shown += chunk;
    if (shown.includes('Ctrl-C')) break;
  }
  assert.equal(existsSync(`${folder}/plants.db-wal`), true);
  terminal.kill('SIGKILL');
  for (let tries = 0; existsSync(`${folder}/plants.db-wal`) && tries < 50; tries++) await setTimeout(100);
  assert.equal(existsSync(`${folder}/plants.db-wal`), false, 'the database was not closed');
});
