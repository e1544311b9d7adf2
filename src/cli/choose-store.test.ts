// Tests of the rule by which commands choose a server or the database, with real servers, profiles and files.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { type InProcessOptions, type Run, runInProcess } from '../../testing/command-line.ts';
import { makeEmptyDatabase, needsPostgres } from '../../testing/postgres.ts';
import { startReceiver } from '../../testing/receiver.ts';
import { makeFolder, makeStoreFolder, query } from '../../testing/server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { SCOPES } from '../domain/names.ts';

let server: TestService;
let secret: string;
before(async () => {
  server = await startTestService({ env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
  ({ secret } = await server.addToken({ scopes: [...SCOPES] }));
});
after(() => server.stop());

type Runner = (args: string[], options?: InProcessOptions) => Promise<Run>;

/** Returns a user who has signed in to the server, and whose folder has no database. */
async function signIn(): Promise<{ folder: string; run: Runner }> {
  const [folder, home] = [makeFolder(), makeFolder()];
  const base = { XDG_CONFIG_HOME: home, DATABASE_URL: `sqlite:${folder}/data/plants.db` };
  const run: Runner = (args, { env, ...options } = {}) => runInProcess(args, { env: { ...base, ...env }, ...options });
  assert.equal((await run(['login', server.url], { input: [secret] })).status, 0);
  return { folder, run };
}

const PLANTS = '{"id":1,"name":"Rosa canina"}\n';

test('after login, commands work on the server of the profile, and create no database', async () => {
  const { folder, run } = await signIn();
  const file = join(folder, 'in.ndjson');
  writeFileSync(file, PLANTS);
  const receiver = await startReceiver();
  const ok = async (...args: string[]) => {
    const { status, stdout, stderr, using } = await run(args);
    assert.equal(status, 0, stderr);
    assert.equal(
      using,
      `Using the server ${server.url} (profile "default"). To use the database in DATABASE_URL instead, add --database.`,
    );
    return stdout;
  };
  assert.deepEqual(JSON.parse(await ok('import', file)), { created: 1, replayed: 0, failed: 0 });
  assert.equal(await ok('export', '-'), PLANTS);

  const created = (await ok('token', 'create', '--name', 'shop', '--expires', '90d', '--rate', '9/s')).trim();
  const tokens = (await ok('token', 'list')).trim().split('\n');
  const shop = tokens.map((line) => JSON.parse(line)).find(({ name }) => name === 'shop');
  assert.equal(shop.rate, '9/s');
  const signedIn = { PLANT_STORE_TOKEN: created, PLANT_STORE_URL: server.url };
  assert.equal((await run(['get', '1'], { env: signedIn })).status, 0); // the server accepts the token
  await ok('token', 'update', shop.id, '--name', 'shop 2', '--expires', 'none');
  assert.match(await ok('token', 'rotate', shop.id, '--grace', '0'), /^pst_\w{36}\n$/);
  await ok('token', 'revoke', shop.id);

  const { id } = JSON.parse(await ok('webhook', 'add', receiver.url, '--name', 'shop'));
  assert.equal(JSON.parse(await ok('webhook', 'list')).id, id);
  assert.equal(JSON.parse(await ok('webhook', 'test', id)).delivered, true);
  assert.equal(JSON.parse(await ok('webhook', 'disable', id)).status, 'disabled');
  assert.equal(JSON.parse(await ok('webhook', 'enable', id)).status, 'active');
  assert.equal(
    JSON.parse(await ok('webhook', 'update', id, '--url', `${receiver.url}/new`)).url,
    `${receiver.url}/new`,
  );
  assert.match(JSON.parse(await ok('webhook', 'rotate', id)).secret, /^whsec_/);
  await ok('webhook', 'replay', id, '--from', '1');
  await ok('webhook', 'deliveries', id);
  await ok('webhook', 'remove', id);
  assert.deepEqual(JSON.parse(await ok('changes', 'prune', '--older-than', '90d')), { pruned: 0 });
  assert.deepEqual(readdirSync(folder), ['in.ndjson']);
  const [row] = query(server.databasePath, 'SELECT count(*) AS plants FROM plants');
  assert.equal(row?.plants, 1n);
});

suite('with --database, after login', () => {
  test('a command uses the database, and only it', async () => {
    const { run } = await signIn();
    const folder = await makeStoreFolder();
    const url = `sqlite:${folder}/plants.db`;
    for (const [args, env] of [
      [['token', 'create', '--name', 'a', '--database', url], {}],
      [['token', 'create', '--name', 'b', '--database'], { DATABASE_URL: url }],
    ] as [string[], Record<string, string>][]) {
      const { status, using, stderr } = await run(args, { env });
      assert.deepEqual([status, using], [0, `Using the database ${folder}/plants.db.`], stderr);
    }
    assert.deepEqual(
      query(join(folder, 'plants.db'), 'SELECT name FROM tokens ORDER BY name').map(({ name }) => name),
      ['a', 'b'],
    );
    const names = query(server.databasePath, "SELECT name FROM tokens WHERE name IN ('a', 'b')");
    assert.deepEqual(names, []);
  });

  test('the options exclude each other, and a value that is no URL is refused', async () => {
    const { run } = await signIn();
    for (const other of [
      ['--url', server.url],
      ['--profile', 'default'],
    ]) {
      const { status, stderr } = await run(['token', 'list', '--database', ...other]);
      assert.deepEqual([status, /cannot be used with/.test(stderr)], [2, true]);
    }
    const { status, stderr } = await run(['import', '--database', 'species.csv', '-', '--format', 'csv']);
    assert.equal(status, 2);
    assert.match(stderr, /^plant-store: --database must be sqlite:PATH/);
  });
});

test('without a profile, commands use the database; PLANT_STORE_URL and --url select a server', async () => {
  const folder = await makeStoreFolder();
  const env = { DATABASE_URL: `sqlite:${folder}/plants.db`, PLANT_STORE_TOKEN: secret };
  const using = async (args: string[], more: Record<string, string> = {}) =>
    (await runInProcess(['token', 'list', ...args], { env: { ...env, ...more } })).using;
  const database = `Using the database ${folder}/plants.db.`;
  const note = 'PLANT_STORE_TOKEN selects no server. To use one, add --url or --profile.';
  assert.equal(await using([]), `${database} ${note}`);
  assert.equal(await using([], { PORT: '0' }), `${database} ${note}`);
  assert.equal(await using(['--database']), database);
  assert.equal(await using(['--url', server.url]), `Using the server ${server.url}.`);
  assert.equal(
    await using([], { PLANT_STORE_URL: server.url }),
    `Using the server ${server.url}. To use the database in DATABASE_URL instead, add --database.`,
  );
});

suite('only serve, restore and migrate create stores', () => {
  const COMMANDS = [
    ['import', '-'],
    ['export', '-'],
    ['token', 'create', '--name', 'x'],
    ['token', 'list'],
    ['webhook', 'add', 'https://example.com/'],
    ['changes', 'prune', '--older-than', '1d'],
  ];
  for (const args of COMMANDS) {
    test(`${args.join(' ')} in an empty folder fails and creates nothing`, async () => {
      const folder = makeFolder();
      const env = { DATABASE_URL: `sqlite:${folder}/data/plants.db` };
      const { status, stdout, stderr } = await runInProcess(args, { env, input: [PLANTS] });
      assert.deepEqual([status, stdout], [1, '']);
      assert.match(stderr, /^plant-store: No database at \S+\/data\/plants\.db\. Set DATABASE_URL .*serve"\.\n$/);
      assert.equal(existsSync(join(folder, 'data')), false);
    });
  }

  test('token create on an empty PostgreSQL database fails and creates no table', needsPostgres, async () => {
    const env = { DATABASE_URL: await makeEmptyDatabase() };
    for (let tries = 0; tries < 2; tries++) {
      const { status, stderr } = await runInProcess(['token', 'create', '--name', 'x'], { env });
      assert.equal(status, 1);
      assert.match(stderr, /^plant-store: postgres:\S+ has no store\. Set DATABASE_URL .*serve"\.\n$/);
    }
  });
});
