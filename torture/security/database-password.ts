// The PostgreSQL password in DATABASE_URL, with valid and invalid URLs, and while the database is down.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../testing/free-port.ts';
import { isPostgresHere, makeEmptyDatabase } from '../../testing/postgres.ts';
import { startProxy } from '../../testing/proxy.ts';
import { callerOf } from '../../testing/request.ts';
import type { Trial } from '../fault.ts';
import { runBuild } from '../run-build.ts';

const COMMANDS = [['serve'], ['token', 'list'], ['export', '-'], ['settings']];
const PASSWORD = 'Tr0ub4dor-and-3';

/** Throws an AssertionError if any output contains the password. */
export async function tryPassword({ launcher, startServer, isFull, random }: Trial): Promise<void> {
  if (!isPostgresHere()) return;
  const url = new URL(await makeEmptyDatabase());
  const proxy = await startProxy(Number(url.port));
  Object.assign(url, { password: PASSWORD, port: String(proxy.port) });
  const server = await startServer({ databaseUrl: url.href, env: { LOG_LEVEL: 'debug', ACCESS_LOG: '1' } });
  const call = callerOf(server, server.secret);
  let shown = (await call('PUT', '/plants/1', { name: 'x' })).body;
  proxy.close();
  await sleep(200);
  for (const path of ['/plants/1', '/readyz', '/plants']) shown += (await call('GET', path)).body;
  const { status, body } = await call('PUT', '/plants/1', { name: 'y' });
  assert.equal(status, 503, body);
  await server.kill();
  shown += body + server.output();

  const unreachable = `postgres://postgres:${PASSWORD}@127.0.0.1:${await freePort()}`;
  const bad = [
    `${unreachable}/x`,
    `${unreachable}/`,
    `${unreachable}/x?sslmode=no`,
    `${unreachable}/x?sslmode=verify-full&sslrootcert=/nowhere`,
    `${unreachable},127.0.0.1:1/x?target_session_attrs=read-write`,
    `${unreachable}/x?host=a,b&port=1,2,3`,
    `postgres://postgres:${PASSWORD}@/@/x`,
    `postgre://postgres:${PASSWORD}@127.0.0.1/x`,
    url.href.replace(/[^/]+$/, 'nowhere').replace(String(proxy.port), new URL(await makeEmptyDatabase()).port),
  ];
  const all = bad.flatMap((url) => COMMANDS.map((command) => ({ url, command })));
  const some = [{ url: `${unreachable}/x`, command: ['token', 'list'] }, random.pick(all)];
  for (const { url, command } of isFull ? all : some) {
    const { status, stdout, stderr } = await runBuild(launcher, command, {
      env: { DATABASE_URL: url, LOG_LEVEL: 'debug' },
    });
    assert.ok(status !== null && (status > 0 || command[0] === 'settings'), `${url} ${command} exited with ${status}`);
    shown += stdout + stderr;
  }
  assert.match(shown, /^plant-store: .*postgres:\/\/127/m, shown);
  assert.ok(!shown.includes(PASSWORD), `the output contains the database password: ${shown}`);
}
