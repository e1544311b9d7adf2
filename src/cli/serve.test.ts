// Tests of the options of serve, and of what it prints on a terminal.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { suite, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { runInProcess } from '../../testing/command-line.ts';
import { LAUNCHER, makeFolder, needsTerminal } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import { OWN_COMMAND } from '../config/command-name.ts';
import { readConfig } from '../config/config.ts';
import { toShellWord } from '../lib/shell-word.ts';
import type { Output } from './command-io.ts';
import { toBanner } from './terminal/banner.ts';

const REFUSED: [args: string[], message: RegExp][] = [
  [['--port', 'x'], /^plant-store: --port must be an integer from 0 \(any free port\) to 65535, not "x"\n$/],
  [['--port', ''], /^plant-store: --port must be an integer.*\n$/],
  [['--port'], /^plant-store: Option '--port <port>' argument missing\. Add --help to see the usage\.\n$/],
  [['--host', 'a b'], /^plant-store: --host must be a host name or an address such as .*, not "a b"\n$/],
  [['--database', './plants.db'], /^plant-store: --database must be sqlite:PATH such as .*\n$/],
  [['--database', 'postgres://me:secret@'], /^plant-store: --database [^\n]*\n$/],
  [['--backup-dir', ''], /^plant-store: --backup-dir must be a folder such as .*\n$/],
  [['--backup-every', '1h'], /^plant-store: --backup-every requires BACKUP_DIR or --backup-dir, .*\n$/],
  [['--backup-dir', 'b', '--backup-every', '1x'], /^plant-store: --backup-every must be a number and a unit .*\n$/],
  [['--backup-dir', 'b', '--backup-keep', '0'], /^plant-store: --backup-keep must be an integer from 1 .*\n$/],
  [['--requests=1'], /^plant-store: Unknown option '--requests=1'.*\n$/],
  [['--open', 'firefox'], /^plant-store: serve has options, but no arguments\. npm needs -- .*\n$/],
];

for (const [args, message] of REFUSED) {
  test(`serve ${args.join(' ')} is rejected in one line, before anything is opened`, async () => {
    const folder = makeFolder();
    const env = { LOG_LEVEL: 'silent', DATABASE_URL: `sqlite:${folder}/plants.db` };
    const { status, stdout, stderr } = await runInProcess(['serve', ...args], { env });
    assert.deepEqual({ status, stdout }, { status: 2, stdout: '' });
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /secret/);
    assert.deepEqual(readdirSync(folder), []);
  });
}

suite('the banner', () => {
  const plain = process.stdout as Output; // colours, if any, are removed below
  const SECRET = `pst_${'x'.repeat(36)}`;

  function bannerOf(env: Record<string, string>, firstSecret?: string, url = 'http://127.0.0.1:3000'): string {
    const server = { url, config: readConfig(env), isNewStore: firstSecret !== undefined, readyMs: 311.6, firstSecret };
    return stripVTControlCharacters(toBanner(server, plain));
  }

  test('shows the first token once, with a command that has no line of more than 80 columns', () => {
    const banner = bannerOf({ DATABASE_URL: 'sqlite:/srv/plants.db' }, SECRET);
    assert.match(banner, /^ {2}Plant Store \d+\.\d+\.\d+ {2}ready in 312 ms$/m);
    assert.match(banner, /^ {2}Console {3}http:\/\/127\.0\.0\.1:3000\/$/m);
    assert.match(banner, /^ {2}API {7}http:\/\/127\.0\.0\.1:3000\/plants$/m);
    assert.match(banner, /^ {2}Database {2}\/srv\/plants\.db {2}new, empty store$/m);
    assert.match(banner, /^ {4}curl -w '\\n' http:\/\/127\.0\.0\.1:3000\/plants \\$/m);
    assert.equal(banner.split(SECRET).length - 1, 2);
    for (const line of banner.split('\n')) assert.ok(line.length <= 80, line);
  });

  test('shows the command that creates an admin token on later starts, for the same database', () => {
    const banner = bannerOf({});
    assert.ok(
      banner.includes(
        `\n    ${OWN_COMMAND} token create --name me --scopes all \\\n      --database ${toShellWord(`sqlite:${resolve('data/plants.db')}`)}\n`,
      ),
      banner,
    );
    assert.doesNotMatch(banner, /DATABASE_URL|curl/);
    const hasPath = (line: string) => /Database|--database/.test(line) || line.includes(OWN_COMMAND);
    for (const line of banner.split('\n').filter((one) => !hasPath(one))) {
      assert.ok(line.length <= 80, line);
    }
    const other = bannerOf({ DATABASE_URL: "sqlite:/srv/my plant's.db" });
    assert.match(other, /\\\n {6}--database 'sqlite:\/srv\/my plant'\\''s\.db'$/m);
    const postgres = bannerOf({ DATABASE_URL: 'postgres://plants:secret@db/plants' });
    assert.match(postgres, /in a terminal with the same DATABASE_URL:/);
    assert.doesNotMatch(postgres, /secret/);
  });
});

test('serve on a terminal shows the banner and a line per request, and opens the browser', needsTerminal, async (t) => {
  const folder = makeFolder();
  const opened = join(folder, 'opened');
  writeFileSync(join(folder, 'xdg-open'), `#!/bin/sh\necho "$1" > "${opened}"\n`, { mode: 0o755 });
  const PATH = [folder, process.env.PATH].join(delimiter);
  const words = `"${LAUNCHER}" serve --port 0 --database "sqlite:${folder}/plants.db" --requests --open`;
  const terminal = spawn('script', ['-qec', `stty cols 80; "${process.execPath}" ${words}`, '/dev/null'], {
    env: { PATH, TERM: 'xterm', DISPLAY: ':0', PORT: 'x', DATABASE_URL: 'x' }, // the options take precedence
  });
  t.after(() => terminal.kill('SIGKILL'));
  let shown = '';
  terminal.stdout.on('data', (chunk) => (shown += chunk));
  await until(() => shown.includes('Ctrl-C'));
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(shown)?.[0] ?? '';
  assert.match(shown.replaceAll('\x1b', 'ESC'), /ESC\[2mready in \d+ msESC/);
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  assert.equal((await fetch(`${url}/plants/${'7'.repeat(100)}`)).status, 401);
  await until(() => /401/.test(shown));
  const lines = stripVTControlCharacters(shown).split('\r\n');
  assert.match(
    lines.find((line) => line.includes('/healthz')) ?? '',
    /^\d\d:\d\d:\d\d 200 GET {4}\/healthz \d+\.\d ms$/,
  );
  const long = lines.find((line) => line.includes(' 401 ')) ?? '';
  assert.match(long, /^\d\d:\d\d:\d\d 401 GET {4}\/plants\/7+… \d+\.\d ms$/);
  assert.equal(long.length, 80);
  assert.match(shown.replaceAll('\x1b', 'ESC'), /ESC\[32m200ESC.*ESC\[33m401ESC/s);
  assert.equal(await until(() => readFileSync(opened, 'utf8').trim() || undefined), `${url}/`);
});
