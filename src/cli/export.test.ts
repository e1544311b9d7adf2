// Tests of exports that overlap or are interrupted, as processes that are stopped in the middle of their work.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, suite, test } from 'node:test';
import { runInProcess } from '../../testing/command-line.ts';
import { besideServer, LAUNCHER, makeFolder, makeStoreFolder } from '../../testing/server.ts';
import { endOf, startStopped } from '../../testing/stopped-export.ts';

const PLANTS = 40_000;
const ALL = Array.from({ length: PLANTS }, (_, n) => `{"id":${n},"name":"Plant ${n}"}\n`).join('');

suite('an export that is stopped in the middle', {
  skip: process.platform === 'win32' && 'SKIPPED: needs SIGSTOP',
}, () => {
  const env = { DATABASE_URL: `sqlite:${join(makeFolder(), 'plants.db')}` };
  before(async () => {
    await besideServer(env.DATABASE_URL, async () => {});
    assert.equal((await runInProcess(['import', '-', '--format', 'ndjson'], { env, input: [ALL] })).status, 0);
  });

  test('shares its file with another export and with drafts of the user: each file is whole', async () => {
    const file = join(makeFolder(), 'plants.ndjson');
    writeFileSync(`${file}.part`, 'mine');
    const [first, second] = [await startStopped(file, env), await startStopped(file, env)];
    assert.equal(namesBeside(file).length, 3, `drafts and a file of the user: ${namesBeside(file)}`);
    assert.deepEqual(await endOf(first), [0, null]);
    assert.ok(readFileSync(file, 'utf8') === ALL, `${statSync(file).size} of ${ALL.length} bytes`);
    assert.deepEqual(await endOf(second), [0, null]);
    assert.ok(readFileSync(file, 'utf8') === ALL, `${statSync(file).size} of ${ALL.length} bytes`);
    assert.deepEqual(namesBeside(file), ['plants.ndjson', 'plants.ndjson.part']);
    assert.equal(readFileSync(`${file}.part`, 'utf8'), 'mine');
  });

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) {
    test(`ends by ${signal}, keeps the old file and removes only its own draft`, async () => {
      const file = join(makeFolder(), 'plants.ndjson');
      for (const name of [file, `${file}.part`]) writeFileSync(name, 'old');
      const child = await startStopped(file, env);
      child.kill(signal);
      assert.deepEqual(await endOf(child), [null, signal]);
      assert.deepEqual(namesBeside(file), ['plants.ndjson', 'plants.ndjson.part']);
      for (const name of [file, `${file}.part`]) assert.equal(readFileSync(name, 'utf8'), 'old');
    });
  }
});

test('an export to /dev/stdout is piped', { skip: process.platform === 'win32' }, async () => {
  const folder = await makeStoreFolder();
  const { stdout } = spawnSync(
    'sh',
    ['-c', `"${process.execPath}" "${LAUNCHER}" export /dev/stdout --format csv | cat`],
    {
      env: { PATH: process.env.PATH, DATABASE_URL: `sqlite:${folder}/plants.db` },
      encoding: 'utf8',
    },
  );
  assert.equal(stdout, 'id,name,tag\n{"file":"/dev/stdout","plants":0}\n');
});

function namesBeside(file: string): string[] {
  return readdirSync(dirname(file)).sort();
}
