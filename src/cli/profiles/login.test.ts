// Tests of login, logout, whoami and profile, and of commands that use a saved profile.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { type InProcessOptions, type Run, runInProcess, typeInto } from '../../../testing/command-line.ts';
import { answer, serveInTurn } from '../../../testing/scripted-server.ts';
import { LAUNCHER, makeFolder, needsTerminal } from '../../../testing/server.ts';
import { startTestService, type TestService } from '../../../testing/service.ts';
import { findProfilesPath } from './profile-file.ts';

const IS_POSIX = process.platform !== 'win32';

let server: TestService;
before(async () => {
  server = await startTestService();
});
after(() => server.stop());

/** A user with an own config folder. */
function createUser() {
  const env = { XDG_CONFIG_HOME: join(makeFolder(), 'config') };
  const file = findProfilesPath(env) ?? '';
  return {
    env,
    file,
    read: () => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined),
    run: (args: string[], { env: other = {}, ...options }: InProcessOptions = {}) =>
      runInProcess(args, { env: { ...env, ...other }, ...options }),
    save(text: string, mode = 0o600) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text, { mode });
    },
  };
}

function assertRefused({ status, stdout, stderr }: Run, expected: number, words: RegExp): void {
  assert.deepEqual([status, stdout], [expected, ''], stderr);
  assert.match(stderr, /^plant-store: [^\n]+\n$/);
  assert.match(stderr, words);
  assert.doesNotMatch(stderr, /pst_|geheim/);
}

suite('login', () => {
  test('saves the URL and the token for the user only, and commands use them', async () => {
    const { file, read, run } = createUser();
    const { id, secret } = await server.addToken({ name: 'me' });
    const login = await run(['login', `${server.url}/`], { input: [`${secret}\n`], columns: 200 });
    const signedIn = `Signed in to ${server.url} as "me" (scopes plants:read, plants:write, never expires).\n`;
    assert.deepEqual([login.stdout, login.stderr], [`${signedIn}Profile "default" saved to ${file}.\n`, '']);
    const profiles = { default: { url: server.url, token: secret, tokenId: id } };
    assert.deepEqual(read(), { current: 'default', profiles });
    assert.deepEqual(readdirSync(dirname(file)), ['profiles.json']);
    if (IS_POSIX) {
      assert.deepEqual([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777], [0o600, 0o700]);
    }
    assert.equal((await run(['add', '1', 'Rosa'])).status, 0);
    const rights = { id, name: 'me', scopes: ['plants:read', 'plants:write'] };
    assert.deepEqual(JSON.parse((await run(['whoami'])).stdout), { profile: 'default', url: server.url, ...rights });
    assert.match((await run(['export', '-', '--profile', 'default'])).stdout, /"name":"Rosa"/);
    assert.equal((await run(['list', '--url', server.url])).status, 0);
  });

  test('a failed login saves nothing and keeps the old profile', async () => {
    const { read, run } = createUser();
    await run(['login', server.url], { input: [server.secret] });
    const saved = read();
    const foreign = await serveInTurn([answer(200, '{}')]);
    for (const [args, input, status, words] of [
      [[server.url], 'pst_x', 5, /\. Nothing was saved\. Sign in with a valid token\. To create one, run /],
      [
        ['http://127.0.0.1:1'],
        'pst_x',
        6,
        /^plant-store: Cannot reach http:\/\/127.0.0.1:1: .*Is the server running\? Nothing was saved\.$/m,
      ],
      [
        [foreign.url],
        'pst_x',
        1,
        /The response is not from a plant store: "id" is missing\. Check the URL http:\S+\.$/m,
      ],
      [[server.url], ' \n', 2, /Standard input has no token\./],
      [[server.url], 'pst_a\npst_b', 2, /Standard input has something else than one token\./],
      [[server.url], 'x'.repeat(20_000), 2, /something else than one token/],
      [
        ['pst_x'],
        '',
        2,
        /^plant-store: Do not pass a token as an argument or option: .* reads it from standard input\.$/m,
      ],
      [[server.url, 'pst_x'], '', 2, /Do not pass a token/],
      [[`${server.url}?token=pst_x`], '', 2, /Do not pass a token/],
      [['--token', 'pst_x'], '', 2, /Do not pass a token/],
      [['--token=pst_x'], '', 2, /Do not pass a token/],
      [[server.url, 'x'], '', 2, /login accepts one argument, the URL of the server/],
      [['http://me:geheim@127.0.0.1'], '', 2, /The URL must be .*, without a user, password or query$/m],
      [['https://example.com?geheim'], '', 2, /The URL must be /],
      [['https://example.com/?geheim'], '', 2, /without a user, password or query$/m],
      [['geheim'], '', 2, /The URL must be /],
      [[server.url, '--profile', 'a b'], '', 2, /The name of a profile must have 1 to 64 letters/],
      [[server.url, '--profile', 'pst_x'], '', 2, /The name of a profile must /],
      [[server.url, '--profile', 'x'.repeat(65)], '', 2, /The name of a profile must /],
      [[server.url, '--profile', ''], '', 2, /The name of a profile must /],
    ] as [string[], string, number, RegExp][]) {
      assertRefused(await run(['login', ...args], { input: [input] }), status, words);
    }
    assertRefused(
      await runInProcess(['login', server.url], { input: [server.secret] }),
      1,
      /(HOME|APPDATA) is not set/,
    );
    assert.deepEqual(read(), saved);
  });

  test('the URL is that of the named profile, or the one of the environment', async () => {
    const { read, run } = createUser();
    const options = { input: [server.secret], env: { PORT: String(server.port) } };
    assert.equal((await run(['login', '--profile', 'one'], options)).status, 0);
    assert.equal(read().profiles.one.url, server.url);
    const again = await run(['login', '--profile', 'one'], { input: [server.secret] });
    assert.equal(again.status, 0, again.stderr);
    const named = await run(['login'], { input: [server.secret], env: { PLANT_STORE_PROFILE: 'one' } });
    assert.equal(JSON.parse(named.stdout).profile, 'one');
    assert.deepEqual(Object.keys(read().profiles), ['one']);
  });

  test('warns of a URL without encryption, of variables that take precedence and of a replaced URL', async () => {
    const { run, save } = createUser();
    save(JSON.stringify({ current: 'x', profiles: { default: { url: 'https://old.example.com', token: 'x' } } }));
    const plain = await run(['login', 'http://192.0.2.1'], { input: [''] });
    assert.match(
      plain.stderr,
      /^Warning: http:\/\/192\.0\.2\.1 is not encrypted\. Others on .*\nplant-store: Standard /,
    );
    const { stdout, stderr } = await run(['login', server.url], {
      input: [server.secret],
      env: { PLANT_STORE_TOKEN: 'x' },
      columns: 200,
    });
    assert.equal(stderr, 'Commands in this terminal do not use the profile, because PLANT_STORE_TOKEN is set.\n');
    assert.match(stdout, /profiles\.json\. It no longer has the URL https:\/\/old\.example\.com\.\n$/);
  });

  test('shows hostile text of a server with escapes, and suggests no command with it', async () => {
    const { read, run } = createUser();
    const evil = 'me\n\u001b[2J';
    const self = { id: 'tok_x; rm -r', name: evil, scopes: [evil], expires: evil };
    const hostile = await serveInTurn([answer(200, JSON.stringify(self))]);
    const { stdout } = await run(['login', hostile.url], { input: ['pst_x'], columns: 200 });
    assert.match(stdout, /^Signed in to http:\S+ as "me\\n\\x1b\[2J" \(scopes me\\n.*\)\.\nProfile [^\n]*\n$/);
    assert.equal(read().profiles.default.tokenId, undefined);
    const out = await run(['logout'], { columns: 200 });
    assert.match(out.stdout, /^Signed out of .* removed\. Its token is still valid\.\n$/);
  });

  test('concurrent logins save all profiles', async () => {
    const { file, read, run } = createUser();
    const names = ['a', 'b', 'c', 'd', '__proto__'];
    await Promise.all(names.map((name) => run(['login', server.url, '--profile', name], { input: [server.secret] })));
    assert.deepEqual(Object.keys(read().profiles).sort(), names.sort());
    assert.deepEqual(readdirSync(dirname(file)), ['profiles.json']);
  });

  test('does not show a typed token, and Ctrl-C changes nothing', needsTerminal, async () => {
    const { env, read } = createUser();
    const login = `"${process.execPath}" "${LAUNCHER}" login ${server.url}; echo "status $?"`;
    const stopped = await typeInto(`trap : INT; ${login}`, env, [['(not shown): ', 'pst_abc\u0003']]);
    assert.match(stopped, /\(not shown\): \r\nInterrupted\. Nothing was saved\.\r\nstatus 130\r\n$/);
    assert.equal(read(), undefined);
    const typed = `\u001b[200~pst_wrong\u0015x\u007f${server.secret}\u001b[201~\r`;
    const shown = await typeInto(login, env, [['(not shown): ', typed]]);
    assert.match(shown, /^Token for http:\S+ \(not shown\): \r\nSigned in to .*\r\nProfile .*\r\nstatus 0\r\n$/s);
    assert.doesNotMatch(stopped + shown, /pst_/);
    assert.equal(read().profiles.default.token, server.secret);
  });
});

test('a rejected token of a profile names the profile and the command that replaces it', async () => {
  const { run, save } = createUser();
  save(JSON.stringify({ current: 'old', profiles: { old: { url: server.url, token: 'pst_x' } } }));
  const words = new RegExp(
    `of the profile "old"\\. Run ".* login ${server.url} --profile old" with a valid token\\. To create one`,
  );
  for (const command of [['whoami'], ['list'], ['export', '-']]) assertRefused(await run(command), 5, words);
});

test('profile lists and switches profiles, and logout removes them', async () => {
  const { file, run, read } = createUser();
  const { id, secret } = await server.addToken();
  for (const name of ['one', 'two']) await run(['login', server.url, '--profile', name], { input: [secret] });
  const { stdout } = await run(['profile', 'list']);
  const line = (name: string, current: boolean) => JSON.stringify({ name, url: server.url, tokenId: id, current });
  assert.equal(stdout, `${line('one', false)}\n${line('two', true)}\n`);
  assert.match(
    (await run(['profile', 'use', 'one'], { columns: 200 })).stdout,
    /^Profile "one" is current: http:\S+\.\n$/,
  );
  const shown = (await run(['profile', 'list'], { columns: 200 })).stdout;
  assert.match(shown, /^NAME +URL +TOKEN +CURRENT\none +http:\S+ +tok_\w+ +yes\ntwo +http:\S+ +tok_\w+ +-\n$/);
  assert.match((await run(['whoami'], { columns: 200 })).stdout, /^Profile +one\nURL .*\nToken +test \(tok_/m);

  const out = (await run(['logout'], { columns: 1000 })).stdout;
  const first = `^Signed out of ${server.url}: profile "one" removed\\. Its token is still valid\\. .*token revoke ${id} --database"`;
  assert.match(
    out,
    new RegExp(`${first} on the server\\.\nNo profile is current\\. Choose one with .*profile use NAME"\\.\n$`),
  );
  assert.deepEqual(Object.keys(read()), ['profiles']);
  assertRefused(await run(['logout']), 2, /No profile is current\. Add --profile NAME or --all\./);
  assertRefused(await run(['logout', '--profile', 'one']), 2, /No profile has the name "one"\. Saved profiles: two\./);
  assertRefused(await run(['logout', '--profile', 'two', '--all']), 2, /cannot be used with/);
  assertRefused(await run(['profile', 'use', 'pst_x']), 2, /The name of a profile must /);
  assertRefused(await run(['list', '--profile', 'two', '--url', server.url]), 2, /cannot be used with/);
  assertRefused(await run(['import', '-', '--profile', 'x']), 2, /No profile has the name "x"/);
  assert.deepEqual(JSON.parse((await run(['logout', '--all'])).stdout), { removed: ['two'] });
  assert.equal(existsSync(file), false);
  assertRefused(await run(['logout', '--all']), 1, /Not signed in: no profile is saved$/m);
  assertRefused(await run(['profile', 'use', 'two']), 2, /No profile has the name "two"\. None is saved\./);
  assertRefused(
    await run(['list']),
    5,
    /No token for http:\S+\. Run ".*token create --name me --scopes all --database \| .* login" in the folder of the server, or set/,
  );
  assert.equal((await run(['profile', 'list'])).stdout, '');
});

suite('the file of profiles', () => {
  test('is refused if it is damaged or if others can read it, and stays as it is', async () => {
    const entry = { url: server.url, token: server.secret };
    const good = JSON.stringify({ current: 'default', profiles: { default: entry } });
    const damaged = [
      '',
      '{',
      'null',
      '{}',
      '{"profiles":{"a":{}}}',
      '{"profiles":{"a b":{"url":"http://x","token":"x"}}}',
    ];
    const files = damaged.map(
      (text) => [text, 0o600, /profiles\.json is damaged\. Fix or delete it, then run /] as const,
    );
    const open = [good, 0o640, /Other users .*profiles\.json\. Run: chmod 600 \S*profiles\.json$/m] as const;
    for (const [text, mode, words] of IS_POSIX ? [...files, open] : files) {
      const { file, run, save } = createUser();
      save(text, mode);
      for (const args of [['list'], ['whoami'], ['profile', 'list'], ['logout', '--all'], ['login', server.url]]) {
        assertRefused(await run(args, { input: [server.secret] }), 1, words);
      }
      assert.equal(readFileSync(file, 'utf8'), text);
      assert.deepEqual(readdirSync(dirname(file)), ['profiles.json']);
    }
  });

  test('is in the config folder of the platform', () => {
    const env = { HOME: '/home/me', APPDATA: '/app' };
    for (const [platform, other, expected] of [
      ['linux', {}, '/home/me/.config/plant-store/profiles.json'],
      ['linux', { XDG_CONFIG_HOME: 'relative' }, '/home/me/.config/plant-store/profiles.json'],
      ['linux', { XDG_CONFIG_HOME: '/xdg' }, '/xdg/plant-store/profiles.json'],
      ['linux', { HOME: '' }, undefined],
      ['darwin', {}, '/home/me/Library/Application Support/plant-store/profiles.json'],
      ['win32', {}, '/app/plant-store/profiles.json'],
      ['win32', { APPDATA: '' }, undefined],
    ] as const) {
      assert.equal(findProfilesPath({ ...env, ...other }, platform)?.replaceAll('\\', '/'), expected);
    }
  });

  test('is reported if it cannot be written', async () => {
    const { file, run, save } = createUser();
    save('');
    const env = { XDG_CONFIG_HOME: file };
    const login = await run(['login', server.url], { input: [server.secret], env });
    assertRefused(login, 1, /Cannot write .*profiles\.json: /);
  });
});
