// Tokens from the command line against a running server: made, listed, expired, revoked, and never leaked.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type Run, runInProcess } from '../../testing/command-line.ts';
import { post } from '../../testing/request.ts';
import { addToken, makeFolder, query } from '../../testing/server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import type { Token } from '../domain/token.ts';
import { mintSecret } from '../domain/token-secret.ts';

let server: TestService;
before(async () => {
  server = await startTestService();
});
after(() => server.stop());

function run(args: string[], databaseUrl = server.databaseUrl): Promise<Run> {
  return runInProcess(['token', ...args], { env: { DATABASE_URL: databaseUrl } });
}

async function cli(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await run(args);
  assert.equal(status, 0, stderr);
  return stdout;
}

function create(
  secret: string,
  id: number,
): Promise<{ status: number; error?: number; challenge: string | undefined }> {
  return post({ port: server.port, secret }, JSON.stringify({ id, name: 'x' })).then(({ status, body, headers }) => ({
    status,
    error: JSON.parse(body).error,
    challenge: headers['www-authenticate'],
  }));
}

test('token create prints the secret alone, and a running server takes it at once', async () => {
  const printed = await cli('create', '--name', 'shop');
  assert.match(printed, /^pst_[0-9A-Za-z]{36}\n$/);
  assert.equal((await create(printed.trim(), 1)).status, 200);
});

test('token create tells of a store that it makes, which may be in the wrong folder', async () => {
  const path = join(makeFolder(), 'new.db');
  const make = () => run(['create', '--name', 'x'], `sqlite:${path}`);
  assert.equal((await make()).stderr, `Made a new store at ${path}\n`);
  assert.equal((await make()).stderr, '');
});

test('token list is JSON when piped: name, scopes and status, no secret and no hash', async () => {
  await cli('create', '--name', 'dash', '--scopes', 'plants:read,admin', '--expires', '90d');
  const rows = JSON.parse(await cli('list'));
  const { id, created, expires, ...row } = rows.find(({ name }: Token) => name === 'dash');
  assert.match(id, /^tok_[0-9A-Za-z]{12}$/);
  assert.deepEqual(row, { name: 'dash', scopes: ['plants:read', 'admin'], status: 'active' });
  assert.equal(Date.parse(expires) - Date.parse(created), 90 * 86_400_000);
});

test('a token without the scope is refused with the scope in the challenge', async () => {
  const secret = (await cli('create', '--name', 'reader', '--scopes', 'plants:read')).trim();
  assert.deepEqual(await create(secret, 2), {
    status: 403,
    error: 40301,
    challenge: 'Bearer realm="plant-store", error="insufficient_scope", scope="plants:write"',
  });
  const admin = (await cli('create', '--name', 'admin', '--scopes', 'admin')).trim();
  assert.equal((await create(admin, 2)).error, 40301);
  assert.deepEqual(query(server.databasePath, 'SELECT * FROM plants WHERE id = 2'), []);
});

test('a token ends when it expires, in the middle of its use', async () => {
  const { secret } = await addToken(server.databaseUrl, { expiresMs: Date.now() + 4000 });
  assert.equal((await create(secret, 3)).status, 200);
  await setTimeout(4000);
  assert.deepEqual(await create(secret, 4), {
    status: 401,
    error: 40102,
    challenge: 'Bearer realm="plant-store", error="invalid_token"',
  });
});

test('a running server refuses a revoked token within 1 s, in the middle of its use', async () => {
  const { token, secret } = await addToken(server.databaseUrl, { name: 'revoked' });
  const using = setInterval(() => void create(secret, 5), 20); // so that it is remembered when it is revoked
  assert.equal((await create(secret, 5)).status, 200);
  await cli('revoke', token.id);
  await setTimeout(1000);
  clearInterval(using);
  assert.equal((await create(secret, 6)).error, 40102);
  assert.equal(JSON.parse(await cli('list')).find(({ id }: Token) => id === token.id).status, 'revoked');
  await cli('revoke', token.id);
});

test('token rotate prints a new secret, and the old one is taken for a while, unless it is ended', async () => {
  const { token, secret } = await addToken(server.databaseUrl, { name: 'renewed' });
  const second = await cli('rotate', token.id);
  assert.match(second, /^pst_[0-9A-Za-z]{36}\n$/);
  assert.equal((await create(secret, 9)).status, 200);
  assert.equal((await create(second.trim(), 10)).status, 200);
  const third = await cli('rotate', token.id, '--grace', '0');
  await setTimeout(1000);
  assert.deepEqual(
    [
      (await create(secret, 11)).error,
      (await create(second.trim(), 11)).error,
      (await create(third.trim(), 11)).status,
    ],
    [40102, 40102, 200],
  );
});

test('the last admin is revoked by force only', async () => {
  const databaseUrl = `sqlite:${join(makeFolder(), 'plants.db')}`;
  const { token } = await addToken(databaseUrl, { scopes: ['admin'] });
  const refused = await run(['revoke', token.id], databaseUrl);
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /^plant-store: Token tok_\w+ is the last .* "plant-store token revoke --force".*\n$/);
  assert.equal((await run(['revoke', token.id, '--force'], databaseUrl)).status, 0);
});

test('the change log names the token that made the change', async () => {
  const { token, secret } = await addToken(server.databaseUrl, { name: 'logged' });
  await create(secret, 7);
  const [change] = query(server.databasePath, 'SELECT type, plant_id, token_id FROM changes WHERE plant_id = 7');
  assert.deepEqual(change, { type: 'plant.created', plant_id: 7n, token_id: token.id });
});

const REFUSED: [args: string[], status: number, message: RegExp][] = [
  [['create', '--name', 'x', '--scopes', 'plants:write,root'], 2, /--scopes takes .* not "root"/],
  [['create', '--name', 'x', '--scopes', ''], 2, /--scopes takes/],
  [['create', '--name', 'x', '--expires', 'soon'], 2, /--expires takes .* not "soon"/],
  [['create', '--name', 'x', '--expires', '0d'], 2, /--expires takes/],
  [['create', '--name', 'x', '--expires', '999999999w'], 2, /--expires takes/],
  [['create', '--name', 'x', '--rate', '100'], 2, /--rate must be a number, .* per second, minute or hour.* not "100"/],
  [['rotate', 'tok_nobody'], 1, /No active token has id "tok_nobody"/],
  [['rotate', 'tok_nobody', '--grace', 'soon'], 2, /--grace takes .* not "soon"/],
  [['rotate', mintSecret(() => 1)], 2, /^plant-store: An id begins with tok_: "token list" shows it\n$/],
  [['create', '--name', ' '], 2, /--name takes 1 to 100 characters/],
  [['create', '--name', '\x1b[31mred'], 2, /--name takes 1 to 100 characters/],
  [['create', '--name', 'x'.repeat(101)], 2, /--name takes 1 to 100 characters/],
  [['revoke', 'tok_nobody'], 1, /No token has id "tok_nobody"/],
  [['revoke', mintSecret(() => 1)], 2, /^plant-store: An id begins with tok_: "token list" shows it\n$/],
];

for (const [args, status, message] of REFUSED) {
  test(`token ${args.join(' ')} is refused and changes nothing`, async () => {
    const before = query(server.databasePath, 'SELECT * FROM tokens');
    const result = await run(args);
    assert.equal(result.status, status);
    assert.match(result.stderr, message);
    assert.equal(result.stderr.trim().split('\n').length, 1);
    assert.deepEqual(query(server.databasePath, 'SELECT * FROM tokens'), before);
  });
}

test('token list and revoke do not make a database that is not there', async () => {
  const path = join(makeFolder(), 'plants.db');
  for (const args of [['list'], ['revoke', 'tok_x']]) {
    const result = await run(args, `sqlite:${path}`);
    assert.equal(result.status, 1);
    assert.match(result.stderr, /^plant-store: There is no database at .*: set DATABASE_URL .*\n$/);
  }
  assert.equal(existsSync(path), false);
});
