// Tests of a process in which one of several threads fails.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import pg from 'pg';
import { makeDatabase, needsPostgres, queryPostgres } from '../../testing/postgres.ts';
import { callerOf, post, send } from '../../testing/request.ts';
import { startServer } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';

/** Makes each HTTP thread run this code at its start. */
function inHttpThreads(code: string): Record<string, string> {
  return atStart(`
    import { isMainThread, workerData } from 'node:worker_threads';
    if (!isMainThread && workerData?.limits) { ${code} }`);
}

/** Makes the system refuse to create an HTTP thread, as it does at its limit of processes. */
function withoutHttpThreads(): Record<string, string> {
  return atStart(`
    import { syncBuiltinESMExports } from 'node:module';
    import threads from 'node:worker_threads';
    const { Worker } = threads;
    threads.Worker = function (url, options) {
      if (options.workerData?.limits) throw new Error('EAGAIN');
      return new Worker(url, options);
    };
    syncBuiltinESMExports();`);
}

function atStart(code: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}

for (const [name, code, message] of [
  ['an exception', 'throw new Error("broken thread")', 'broken thread'],
  ['a rejected promise', 'Promise.reject(new Error("broken promise"))', 'broken promise'],
  ['an exit', 'process.exit()', 'An HTTP thread ended unexpectedly'],
] as const) {
  test(`${name} in one thread ends the process with status 1 and one line`, async () => {
    const server = await startServer({
      env: { THREADS: '2', ...inHttpThreads(`setTimeout(() => { ${code} }, 1500)`) },
    });
    const [status] = await once(server.process, 'close');
    assert.equal(status, 1);
    const lines = server.output().trim().split('\n').slice(1);
    assert.equal(lines.length, 1, server.output());
    const { kind, err } = JSON.parse(lines[0] ?? '');
    assert.deepEqual([kind, err.message], ['bug', message]);
  });
}

for (const [name, env, message] of [
  ['cannot start', inHttpThreads('throw new Error("no files")'), 'no files'],
  ['cannot be created', withoutHttpThreads(), 'EAGAIN'],
] as const) {
  test(`a thread that ${name} is reported in one line, and the others serve requests`, async () => {
    const server = await startServer({ env: { THREADS: '2', ...env } });
    await until(() => server.output().includes(message));
    assert.equal((await post(server, '{"id":1,"name":"Aloe"}')).status, 200);
    assert.equal((await send(server.port, { path: '/healthz' })).status, 200);
    assert.equal(server.output().match(/"level":"error"/g)?.length, 1);
    assert.equal(await server.stop(), 0);
  });
}

test('a thread that cannot start leaves its connections to PostgreSQL to the others', needsPostgres, async () => {
  const databaseUrl = await makeDatabase();
  const env = { THREADS: '2', DATABASE_POOL_SIZE: '4', ...withoutHttpThreads() };
  const server = await startServer({ databaseUrl, env });
  await until(() => server.output().includes('EAGAIN'));
  const locking = new pg.Client(databaseUrl);
  await locking.connect();
  await locking.query('BEGIN; LOCK TABLE plants');
  const reading = Array.from({ length: 8 }, () => callerOf(server, server.secret)('GET', '/plants'));
  const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await until(async () => (await queryPostgres(databaseUrl, waiting)).length === 4);
  await locking.end();
  for (const { status } of await Promise.all(reading)) assert.equal(status, 200);
  await server.stop();
});
