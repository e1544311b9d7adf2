// Tests of the token commands beside a running server: create, list, expire, rotate, revoke, and no leaked secret.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { ADVISED_COMMAND, type InProcessOptions, type Run, runInProcess } from '../../testing/command-line.ts';
import { post } from '../../testing/request.ts';
import { addToken, besideServer, makeFolder, query } from '../../testing/server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { OWN_COMMAND } from '../config/command-name.ts';
import type { DescribedToken } from '../domain/token.ts';
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

test('token create prints only the secret, and a running server accepts it immediately', async () => {
  const printed = await cli('create', '--name', 'shop');
  assert.match(printed, /^pst_[0-9A-Za-z]{36}\n$/);
  assert.equal((await create(printed.trim(), 1)).status, 200);
});

test('on a terminal, token create says that the secret is shown only once, unless a shell captures it', async () => {
  const env = { DATABASE_URL: server.databaseUrl };
  const args = ['token', 'create', '--name', 'me', '--expires', '90d'];
  const created =
    /^Token tok_\w+ created\. Scopes: plants:read, plants:write\. Expires:\n\d{4}-\d\d-\d\d \d\d:\d\dZ\.\n/; // at 80 columns
  const shown = await runInProcess(args, { env, columns: 80 });
  assert.match(shown.stderr, new RegExp(`${created.source}The secret above is shown only once\\. Store it now\\.\n$`));
  const captured = await runInProcess(args, { env, columns: 80, isCaptured: true });
  assert.match(captured.stdout, /^pst_\w{36}\n$/);
  assert.match(captured.stderr, new RegExp(`${created.source}$`));
});

/** Returns the tokens that token list prints, one per line. */
async function listed(): Promise<DescribedToken[]> {
  const lines = (await cli('list')).split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

test('token list prints NDJSON when piped, without secrets and hashes', async () => {
  await cli('create', '--name', 'dash', '--scopes', 'plants:read,admin', '--expires', '90d');
  const { id = '', created = '', expires = '', ...row } = (await listed()).find(({ name }) => name === 'dash') ?? {};
  assert.match(id, /^tok_[0-9A-Za-z]{12}$/);
  assert.deepEqual(row, { name: 'dash', scopes: ['plants:read', 'admin'], status: 'active' });
  assert.equal(Date.parse(expires) - Date.parse(created), 90 * 86_400_000);
});

test('a token without the scope is rejected, and the challenge names the scope', async () => {
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

// They wait most of the time, so they run at once.
suite('a running server applies changes to tokens', { concurrency: true }, () => {
  test('a token in use is rejected once it expires', async () => {
    const { secret } = await addToken(server.databaseUrl, { expiresMs: Date.now() + 4000 });
    assert.equal((await create(secret, 3)).status, 200);
    await setTimeout(4000);
    assert.deepEqual(await create(secret, 4), {
      status: 401,
      error: 40102,
      challenge: 'Bearer realm="plant-store", error="invalid_token"',
    });
  });

  test('a running server rejects a revoked token within 1 s, even while it is in use', async () => {
    const { token, secret } = await addToken(server.databaseUrl, { name: 'revoked' });
    const using = setInterval(() => void create(secret, 5), 20); // keeps the token in the server's cache when it is revoked
    assert.equal((await create(secret, 5)).status, 200);
    await cli('revoke', token.id);
    await setTimeout(1000);
    clearInterval(using);
    assert.equal((await create(secret, 6)).error, 40102);
    assert.equal((await listed()).find(({ id }) => id === token.id)?.status, 'revoked');
    await cli('revoke', token.id);
  });

  test('token rotate prints a new secret, and the old one works for the grace period', async () => {
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

  test('token update changes the given properties, which a running server applies within 1 s', async () => {
    const { token, secret } = await addToken(server.databaseUrl, { name: 'changing' });
    assert.equal((await create(secret, 12)).status, 200);
    assert.equal(
      await cli(
        'update',
        token.id,
        '--scopes',
        'plants:read',
        '--name',
        'changed',
        '--expires',
        '90d',
        '--rate',
        '5/s',
      ),
      '',
    );
    await setTimeout(1000);
    assert.equal((await create(secret, 13)).error, 40301);
    const shown = async () => (await listed()).find(({ id }) => id === token.id);
    const { created, lastUsed, expires = '', ...row } = (await shown()) ?? {};
    assert.deepEqual(row, { id: token.id, name: 'changed', scopes: ['plants:read'], rate: '5/s', status: 'active' });
    assert.ok(Math.abs(Date.parse(expires) - Date.now() - 90 * 86_400_000) < 60_000);
    await cli('update', token.id, '--expires', 'none', '--rate', 'none');
    const { expires: none, rate } = (await shown()) ?? {};
    assert.deepEqual([none, rate], [undefined, undefined]);
  });
});

test('the last admin token can be revoked only with --force', async () => {
  const databaseUrl = `sqlite:${join(makeFolder(), 'plants.db')}`;
  const { token } = await addToken(databaseUrl, { scopes: ['admin'] });
  const refused = await run(['revoke', token.id], databaseUrl);
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /^plant-store: Token tok_\w+ is the last .*--force.*\n$/);
  const demoted = await run(['update', token.id, '--scopes', 'plants:read'], databaseUrl);
  assert.deepEqual([demoted.status, /must keep this scope/.test(demoted.stderr)], [1, true]);
  assert.equal((await run(['revoke', token.id, '--force'], databaseUrl)).status, 0);
});

test('the change log names the token of the change', async () => {
  const { token, secret } = await addToken(server.databaseUrl, { name: 'logged' });
  await create(secret, 7);
  const [change] = query(server.databasePath, 'SELECT type, plant_id, token_id FROM changes WHERE plant_id = 7');
  assert.deepEqual(change, { type: 'plant.created', plant_id: 7n, token_id: token.id });
});

const ID_FORM = new RegExp(
  `^plant-store: A token id starts with tok_\\. "${ADVISED_COMMAND} token list" shows the ids\\.\n$`,
);
const NAME_FORM = /--name must have 1 to 100 characters/;
const REFUSED: [args: string[], status: number, message: RegExp][] = [
  [['create', '--name', 'x', '--scopes', 'plants:write,root'], 2, /--scopes must be .* not "root"/],
  [['create', '--name', 'x', '--scopes', ''], 2, /--scopes must be/],
  [['create', '--name', 'x', '--expires', 'soon'], 2, /--expires .* not "soon"/],
  [['create', '--name', 'x', '--expires', '0d'], 2, /--expires /],
  [['create', '--name', 'x', '--expires', '999999999w'], 2, /--expires /],
  [['create', '--name', 'x', '--rate', '100'], 2, /--rate must be .* not "100"/],
  [['update', 'tok_nobody'], 2, /Nothing to change/],
  [['update', 'tok_nobody', '--name', 'x'], 3, /No active token has id "tok_nobody"/],
  [['update', 'tok_nobody', '--name', ' '], 2, NAME_FORM],
  [['update', 'tok_nobody', '--scopes', 'root'], 2, /--scopes must be .* not "root"/],
  [['update', 'tok_nobody', '--expires', 'soon'], 2, /--expires .* not "soon"/],
  [['update', 'tok_nobody', '--rate', '100'], 2, /--rate must be .* not "100"/],
  [['update', mintSecret(() => 1), '--name', 'x'], 2, ID_FORM],
  [['rotate', 'tok_nobody'], 3, /No .*tok_nobody/],
  [['rotate', 'tok_nobody', '--grace', 'soon'], 2, /--grace .* not "soon"/],
  [['rotate', mintSecret(() => 1)], 2, ID_FORM],
  [['create', '--name', ' '], 2, NAME_FORM],
  [['create', '--name', '\x1b[31mred'], 2, NAME_FORM],
  [['create', '--name', 'x'.repeat(101)], 2, NAME_FORM],
  [['revoke', 'tok_nobody'], 3, /No token .*tok_nobody/],
  [['revoke', mintSecret(() => 1)], 2, ID_FORM],
];

for (const [args, status, message] of REFUSED) {
  test(`token ${args.join(' ')} is rejected and changes nothing`, async () => {
    const before = query(server.databasePath, 'SELECT * FROM tokens');
    const result = await run(args);
    assert.equal(result.status, status);
    assert.match(result.stderr, message);
    assert.equal(result.stderr.trim().split('\n').length, 1);
    assert.deepEqual(query(server.databasePath, 'SELECT * FROM tokens'), before);
  });
}

test('lists of an empty store print nothing as JSON, and a sentence as a table', async () => {
  const env = { DATABASE_URL: `sqlite:${join(makeFolder(), 'plants.db')}` };
  await besideServer(env.DATABASE_URL, async () => {});
  for (const [command, words] of [
    ['token', `No tokens. Create one with "${OWN_COMMAND} token create --name NAME".\n`],
    ['webhook', `No webhooks. Add one with "${OWN_COMMAND} webhook add URL".\n`],
  ] as const) {
    const list = async (...args: string[]) => (await runInProcess([command, 'list', ...args], { env })).stdout;
    const shown = await runInProcess([command, 'list'], { env, columns: 80 });
    assert.deepEqual([await list(), await list('--table'), shown.stdout], ['', words, words]);
  }
});

test('token list prints a table on a terminal or with --table, and all fields with --json', async () => {
  const { token } = await addToken(server.databaseUrl, { name: '苗圃 and a long name of a token'.repeat(3) });
  const env = { DATABASE_URL: server.databaseUrl, NO_COLOR: '1' };
  const [narrow = '', row = ''] = await tableOf(['token', 'list'], { env, columns: 80 }, token.id);
  assert.match(narrow, /^ID +NAME +SCOPES +LAST USED +EXPIRES +STATUS$/);
  assert.match(row, /^tok_\w{12} {2}苗圃 and a .*… {2}read,write +never +never +active$/);
  const [wide = '', full = ''] = await tableOf(['token', 'list'], { env, columns: 200 }, token.id);
  assert.match(wide, /^ID +NAME +SCOPES +RATE +CREATED +LAST USED +EXPIRES +STATUS$/);
  assert.match(full, / {2}plants:read,plants:write +- +\d{4}-\d\d-\d\d \d\d:\d\dZ +never +never +active$/);
  assert.deepEqual(await tableOf(['token', 'list', '--table'], { env }, token.id), [narrow, row]);
  const { stdout } = await runInProcess(['token', 'list', '--json'], { env, columns: 80 });
  const json = stdout.split('\n').find((line) => line.includes(token.id)) ?? '';
  assert.deepEqual(JSON.parse(json).scopes, ['plants:read', 'plants:write']);
});

/** Returns the headings, and the row that has the id. */
async function tableOf(args: string[], options: InProcessOptions, id: string): Promise<(string | undefined)[]> {
  const lines = stripVTControlCharacters((await runInProcess(args, options)).stdout).split('\n');
  return [lines[0], lines.find((line) => line.startsWith(id))];
}

test('token list and revoke do not create a missing database', async () => {
  const path = join(makeFolder(), 'plants.db');
  for (const args of [['list'], ['revoke', 'tok_x']]) {
    const result = await run(args, `sqlite:${path}`);
    assert.equal(result.status, 1);
    assert.match(result.stderr, /^plant-store: No database at .*\. Set DATABASE_URL .*\n$/);
  }
  assert.equal(existsSync(path), false);
});
