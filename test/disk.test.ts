// What the disk can do to us: no answer before the fsync, a failed fsync ends the process, a full disk is 503.
// Needs strace, and for the full disk the right to mount a small tmpfs; says so loudly where it has to skip.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { post, send } from './request.ts';
import { LAUNCHER, makeFolder, query, startServer } from './server.ts';

const canTrace = spawnSync('strace', ['-f', 'true']).status === 0;
const needsStrace = canTrace ? {} : { skip: 'SKIPPED: strace is missing or not allowed' };
const canMount =
  process.platform === 'linux' && process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0;
const needsMount = canMount ? {} : { skip: 'SKIPPED: only root on Linux can mount a small disk' };

test('no 200 leaves before the fsync of its commit has returned', needsStrace, async () => {
  const folder = makeFolder();
  const trace = join(folder, 'trace');
  const wrapper = [
    'strace',
    '-f',
    '-ttt',
    '-e',
    'trace=fsync,fdatasync,write,writev,sendto,sendmsg',
    '-s',
    '200',
    '-o',
    trace,
  ];
  const server = await startServer({ folder, wrapper });
  for (let id = 1; id <= 20; id++) assert.equal((await post(server, `{"id":${id},"name":"x"}`)).status, 200);
  stopTraced(server.process.pid);
  await once(server.process, 'exit');

  const lines = readFileSync(trace, 'utf8').split('\n');
  const sinceStart = lines.slice(lines.findIndex((line) => line.includes('listening')));
  let syncs = 0;
  let answers = 0;
  for (const line of sinceStart) {
    if (/f(data)?sync.*= 0$/.test(line)) syncs++;
    if (line.includes('HTTP/1.1 200')) assert.ok(syncs >= ++answers, `answer ${answers} after ${syncs} fsyncs`);
  }
  assert.equal(answers, 20);
});

test('a failed fsync: no 200 for that commit, exit status 1, a clean restart', needsStrace, async () => {
  const folder = makeFolder();
  const warmUp = await startServer({ folder });
  assert.equal((await post(warmUp, '{"id":1,"name":"before"}')).status, 200);
  await warmUp.stop();

  const server = await startServer({ folder, wrapper: withSyncs('error=EIO:when=6+') });
  const exited = once(server.process, 'exit');
  const acknowledged: number[] = [];
  let refusal: string | undefined;
  for (let id = 100; refusal === undefined && id < 200; id++) {
    const answer = await post(server, `{"id":${id},"name":"x"}`);
    if (answer.status === 200) acknowledged.push(id);
    else refusal = answer.body;
  }
  assert.match(refusal ?? '', /"error":50300,"message":".*send the same record again"/);
  assert.equal((await exited)[0], 1);
  assert.match(server.output(), /"level":"fatal".*"kind":"store_failed"/);
  assert.ok(acknowledged.length > 0, 'it failed at once');
  assert.ok(statSync(`${server.databasePath}-wal`).size > 0, 'it went on writing after the failure');

  const restarted = await startServer({ folder });
  const stored = new Set(query(restarted.databasePath, 'SELECT id FROM plants').map(({ id }) => Number(id)));
  assert.deepEqual(
    [1, ...acknowledged].filter((id) => !stored.has(id)),
    [],
  );
  assert.equal((await post(restarted, '{"id":2,"name":"after"}')).status, 200);
  assert.equal(await restarted.stop(), 0);
  assert.deepEqual(query(restarted.databasePath, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
});

test('a failed fsync while the file is made leaves nothing that stands in the way', needsStrace, () => {
  for (let when = 1; when <= 9; when++) {
    const env = { PATH: process.env.PATH, DATABASE_URL: `sqlite:${makeFolder()}/plants.db` };
    const create = (wrapper: string[]) => {
      const [command = '', ...args] = [...wrapper, process.execPath, LAUNCHER, 'token', 'create', '--name', 'x'];
      return spawnSync(command, args, { env, encoding: 'utf8', timeout: 20_000 });
    };
    const first = create(withSyncs(`error=EIO:when=${when}`));
    const second = create([]);
    assert.equal(second.status, 0, `fsync ${when} failed, and then: ${second.stderr}`);
    const printed = [first, second].filter(({ status }) => status === 0).length;
    assert.equal(query(env.DATABASE_URL.slice(7), 'SELECT * FROM tokens').length, printed, `fsync ${when}`);
  }
});

test('a disk that is full while the file is made leaves nothing that stands in the way', needsMount, (t) => {
  for (const sizeKib of [16, 36, 48, 60, 68, 76, 84, 92]) {
    const folder = makeFolder();
    assert.equal(spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeKib}k`, 'tmpfs', folder]).status, 0);
    t.after(() => spawnSync('umount', ['-l', folder]));
    const env = { PATH: process.env.PATH, DATABASE_URL: `sqlite:${folder}/plants.db` };
    const create = () =>
      spawnSync(process.execPath, [LAUNCHER, 'token', 'create', '--name', 'x'], { env, encoding: 'utf8' });
    const first = create();
    if (first.status !== 0) assert.match(first.stderr, /^plant-store: .*\n$/);
    spawnSync('mount', ['-o', 'remount,size=2m', folder]);
    const second = create();
    assert.equal(second.status, 0, `${sizeKib} KiB: ${first.stderr} ${second.stderr}`);
  }
});

test('a slow disk: reads and /healthz go on', needsStrace, async () => {
  const server = await startServer({ wrapper: withSyncs('delay_enter=200000') });
  let writing = true;
  const writes = Array.from({ length: 16 }, async (_, client) => {
    for (let n = 0; writing; n++)
      assert.equal((await post(server, `{"id":${client * 1000 + n},"name":"x"}`)).status, 200);
  });
  const times: number[] = [];
  const firstMs = performance.now();
  await post(server, '{"id":-1,"name":"x"}');
  assert.ok(performance.now() - firstMs > 190, 'the disk was not made slow');
  for (let n = 0; n < 50; n++) {
    const startMs = performance.now();
    assert.equal((await send(server.port, { path: '/healthz' })).status, 200);
    times.push(performance.now() - startMs);
    await setTimeout(10);
  }
  writing = false;
  await Promise.all(writes);
  times.sort((a, b) => a - b);
  assert.ok((times.at(-2) ?? 0) < 100, `/healthz took ${times.at(-2)} ms while a commit takes 200 ms`);
  stopTraced(server.process.pid);
  await once(server.process, 'exit');
});

test('a full disk: writes 503, nothing acknowledged is lost, and it recovers by itself', needsMount, async (t) => {
  const folder = makeFolder();
  assert.equal(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', folder]).status, 0);
  t.after(() => spawnSync('umount', ['-l', folder]));
  writeFileSync(join(folder, 'ballast'), Buffer.alloc(512 * 1024));
  const server = await startServer({ folder });
  const acknowledged: number[] = [];
  let full: { status: number; body: string } | undefined;
  for (let id = 1; !full && id < 500; id++) {
    const answer = await post(server, `{"id":${id},"name":"${'x'.repeat(20_000)}"}`);
    if (answer.status === 200) acknowledged.push(id);
    else full = answer;
  }
  assert.equal(full?.status, 503);
  assert.match(full?.body ?? '', /"error":50300,"message":"The disk is full: try again later"/);
  assert.throws(() => appendFileSync(join(folder, 'ballast'), Buffer.alloc(4 * 1024 * 1024)), /ENOSPC/); // to the last byte
  for (let id = 1000; id < 2000; id++) {
    // What the refused one took of the log is used up by small ones.
    const answer = await post(server, `{"id":${id},"name":"small"}`);
    if (answer.status === 503) break;
    acknowledged.push(id);
  }
  let notReady = await send(server.port, { path: '/readyz' });
  for (let pages = 0; notReady.status === 200 && pages < 5; pages++) {
    await setTimeout(1100); // the next probe, which takes one page more
    notReady = await send(server.port, { path: '/readyz' });
  }
  assert.equal(notReady.status, 503);
  assert.equal(notReady.headers['retry-after'], '1');
  assert.equal((await send(server.port, { path: '/healthz' })).status, 200);
  assert.equal((await post(server, '{')).status, 400, 'tokens can still be read');

  rmSync(join(folder, 'ballast'));
  await setTimeout(1100);
  assert.equal((await send(server.port, { path: '/readyz' })).status, 200);
  assert.equal((await post(server, '{"id":9000,"name":"again"}')).status, 200);
  assert.equal(await server.stop(), 0);
  const stored = new Set(query(server.databasePath, 'SELECT id FROM plants').map(({ id }) => Number(id)));
  assert.ok(acknowledged.length > 10);
  assert.deepEqual(
    [...acknowledged, 9000].filter((id) => !stored.has(id)),
    [],
  );
  assert.deepEqual(query(server.databasePath, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
  assert.match(server.output(), /"kind":"writes_failing".*"kind":"writes_recovered"/s);
});

function withSyncs(fault: string): string[] {
  const options = [
    '-f',
    '-qq',
    '-e',
    'trace=fsync,fdatasync',
    '-e',
    `inject=fsync,fdatasync:${fault}`,
    '-o',
    '/dev/null',
  ];
  return ['strace', ...options];
}

/** strace keeps signals to itself: the server is its child. */
function stopTraced(stracePid: number | undefined): void {
  spawnSync('pkill', ['-TERM', '-P', String(stracePid)]);
}
