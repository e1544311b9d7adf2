// Tests of the server's output: JSON lines when piped, a banner on a terminal, and no secret in a log.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Agent } from 'node:http';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { ADVISED_COMMAND } from '../../testing/command-line.ts';
import { freePort } from '../../testing/free-port.ts';
import { createOver, post, send, sendRaw } from '../../testing/request.ts';
import { addToken, LAUNCHER, makeFolder, needsCurl, needsTerminal, startServer } from '../../testing/server.ts';
import { startTestService } from '../../testing/service.ts';
import { quickEnough, until } from '../../testing/until.ts';

/** A path that the server logs in full. */
const LONG_PATH = `/${'a'.repeat(15_000)}`;
/** More bytes than a pipe or a socket holds while no process reads it. */
const FULL_PIPE_BYTES = 1024 * 1024;

test('a piped server logs JSON lines, one per request with ACCESS_LOG=1, and never a secret', async () => {
  const server = await startServer({ env: { ACCESS_LOG: '1' } });
  await post(server, '{"id":1,"name":"x"}', { 'x-request-id': 'mine' });
  await send(server.port, {
    path: `/plants?access_token=${server.secret}`,
    headers: { authorization: `Bearer ${server.secret}x` },
  });
  const jwt = `${'eyJhbGciOiJFUzI1NiJ9'}.${'eyJzdWIiOiJhbGljZSJ9'}.c2lnbmF0dXJl`;
  for (const path of [
    `%70st_${server.secret.slice(4)}`,
    jwt,
    `Bearer%20${jwt}`,
    '%ZZpst%5Fabc',
    '%2570st_ab',
    'PST_AB',
    'whsec_ab/cd',
  ]) {
    await send(server.port, { path: `/x/${path}` });
  }
  for (const target of ['//me:secret@host/plants', 'http://me:sec/ret@host/plants', 'ftp://me:secret@host/plants']) {
    await sendRaw(server.port, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  }
  await send(server.port, { path: '/healthz', headers: { 'x-request-id': jwt } });
  await quickEnough(1000, async () => {
    const startMs = performance.now();
    await send(server.port, { path: LONG_PATH }); // slow to log
    await send(server.port, { path: '/healthz' });
    return performance.now() - startMs;
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
      [false, 'GET', '/x/…', 404],
      [false, 'GET', '/x/…', 404],
      [false, 'GET', '/x/…', 404],
      [false, 'GET', '/x/…', 400],
      [false, 'GET', '/x/…', 404],
      [false, 'GET', '/x/…', 404],
      [false, 'GET', '/x/…', 404],
      [false, 'GET', '…', 404],
      [false, 'GET', '…', 404],
      [false, 'GET', '…', 404],
      [false, 'GET', '/healthz', 200],
      [false, 'GET', LONG_PATH, 404],
      [false, 'GET', '/healthz', 200],
    ],
  );
  assert.match(requests[0].tokenId, /^tok_/);
  assert.equal(requests[0].address, '127.0.0.1');
  assert.deepEqual(
    lines.filter(({ kind }) => kind !== 'request').map(({ kind }) => kind),
    ['listening', 'stopping', 'stopped'],
  );
  assert.doesNotMatch(server.output(), /pst(_|%5F)|eyJ/);
  assert.ok(!server.output().includes(server.secret.slice(4)));

  const quiet = await startTestService();
  await post(quiet, '{"id":1,"name":"x"}');
  await quiet.stop();
  assert.ok(quiet.events.every(({ kind }) => kind !== 'request'));
});

test('the address from a proxy is logged only if it is a valid address', async () => {
  const service = await startTestService({ env: { ACCESS_LOG: '1', TRUST_PROXY: 'loopback' } });
  for (const forwarded of [
    '203.0.113.7',
    '203.0.113.7:5678',
    '[2001:db8::1]:5678',
    service.secret,
    'unknown',
    '1.2.3.4 x',
  ]) {
    await send(service.port, { path: '/healthz', headers: { 'x-forwarded-for': forwarded } });
  }
  await service.stop();
  const addresses = service.events.flatMap((event) => (event.kind === 'request' ? [event.address] : []));
  const own = '127.0.0.1';
  assert.deepEqual(addresses, ['203.0.113.7', '203.0.113.7:5678', '[2001:db8::1]:5678', own, own, own]);
});

test('a log that no process reads does not stop the service', async (t) => {
  const databaseUrl = `sqlite:${makeFolder()}/plants.db`;
  const { secret } = await addToken(databaseUrl, {});
  const env = { PATH: process.env.PATH, PORT: '0', ACCESS_LOG: '1', DATABASE_URL: databaseUrl };
  const child = spawn(process.execPath, [LAUNCHER, 'serve'], { env });
  t.after(() => child.kill('SIGKILL'));
  const [line] = await once(child.stdout, 'data');
  child.stdout.pause();
  const port = Number(/:(\d+)"/.exec(String(line))?.[1]);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let logged = 0; logged < FULL_PIPE_BYTES; logged += LONG_PATH.length) {
    assert.equal((await send(port, { path: LONG_PATH, agent })).status, 404);
  }
  for (let id = 0; id < 50; id++) assert.equal(await createOver(agent, { port, secret }, { id, name: 'x' }), 200);
  agent.destroy();
  const exited = once(child, 'exit');
  child.kill();
  assert.equal((await exited)[0], 0);
});

test('a log that cannot be written does not stop the service', {
  skip: !existsSync('/dev/full') && 'SKIPPED: needs /dev/full',
}, async (t) => {
  const databaseUrl = `sqlite:${makeFolder()}/plants.db`;
  const { secret } = await addToken(databaseUrl, {});
  const port = await freePort(); // set by the test, because the log line with the port cannot be read
  const env = { PATH: process.env.PATH, PORT: String(port), ACCESS_LOG: '1', DATABASE_URL: databaseUrl };
  const command = `exec "${process.execPath}" "${LAUNCHER}" serve >/dev/full`;
  const child = spawn('sh', ['-c', command], { env, stdio: 'ignore' });
  t.after(() => child.kill('SIGKILL'));
  const create = () => post({ port, secret }, '{"id":1,"name":"x"}');
  await until(() => create().catch(() => undefined));
  for (let requests = 0; requests < 5; requests++) assert.equal((await create()).status, 200);
  child.kill();
  assert.equal((await once(child, 'exit'))[0], 0);
});

test('a piped first start creates no token and logs how to create one', async (t) => {
  const env = { PATH: process.env.PATH, PORT: '0', DATABASE_URL: `sqlite:${makeFolder()}/plants.db` };
  const child = spawn(process.execPath, [LAUNCHER, 'serve'], { env });
  t.after(() => child.kill('SIGKILL'));
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += chunk;
    if (printed.includes('token create')) child.kill();
  }
  assert.match(printed, new RegExp(`"kind":"no_token".*${ADVISED_COMMAND} token create --name NAME`));
  assert.doesNotMatch(printed, /pst_/);
});

test('on a terminal, the first start prints a token once and a curl command that works', {
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
    const response = execFileSync('sh', ['-c', shellCommand(shown, 'curl').replace('curl', 'curl -s')], {
      encoding: 'utf8',
    });
    assert.equal(response, '{"name":"Monstera deliciosa","tag":"tropical"}\n');
  });
  assert.match(first, /Stopped/);
  assert.equal(new Set(first.match(/pst_\w{36}/g)).size, 1);

  const second = await onTerminal((shown) => {
    const command = shellCommand(shown, `${ADVISED_COMMAND} token create`);
    const own = { cwd: dirname(dirname(LAUNCHER)), env: { PATH: env.PATH }, encoding: 'utf8' } as const;
    const secret = execFileSync('sh', ['-c', command], own).trim();
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(shown)?.[0];
    const asAdmin = ['-s', `${url}/tokens/self`, '-H', `Authorization: Bearer ${secret}`];
    assert.match(execFileSync('curl', asAdmin, own), /"scopes":\["plants:read","plants:write","admin"\]/);
  });
  assert.doesNotMatch(second, /pst_/);
});

/** Returns the command of the banner that starts with the given text, with its continued lines. */
function shellCommand(shown: string, start: string): string {
  const [command = ''] = new RegExp(`^ *${start}(.*\\\\\n)*.*$`, 'm').exec(shown.replaceAll('\r', '')) ?? [];
  return command;
}
