// Tests of the command backups, and of restore by the name of a scheduled backup.

import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { runInProcess } from '../../testing/command-line.ts';
import { besideServer, makeFolder, query } from '../../testing/server.ts';

const NAMES = ['plants-2026-01-18T01-00-00Z.db', 'plants-2026-01-18T02-00-00Z.db'] as const;
const folder = makeFolder();
const dir = join(folder, 'backups');
const database = join(folder, 'plants.db');
const env = { DATABASE_URL: `sqlite:${database}`, BACKUP_DIR: dir };

before(async () => {
  mkdirSync(dir);
  for (const [id, name] of NAMES.entries()) {
    await besideServer(env.DATABASE_URL, (store) => store.create({ id: BigInt(id), name }, { tokenId: 'cli' }));
    await runInProcess(['backup', join(dir, name)], { env });
  }
});

test('backups lists them newest first, as a table or as JSON lines', async () => {
  const piped = await runInProcess(['backups'], { env });
  const rows = piped.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    rows.map(({ name, time, bytes }) => [name, time, bytes > 0]),
    [
      [NAMES[1], '2026-01-18T02:00:00.000Z', true],
      [NAMES[0], '2026-01-18T01:00:00.000Z', true],
    ],
  );
  const { stdout } = await runInProcess(['backups', '--dir', dir], {
    env: { DATABASE_URL: env.DATABASE_URL },
    columns: 100,
  });
  assert.match(
    stdout,
    /^NAME +TIME +AGE +SIZE\nplants-2026-01-18T02-00-00Z\.db +2026-01-18 02:00:00Z +\d+[smhd] +\d+ KiB\n/,
  );
  const other = { env: { ...env, DATABASE_URL: 'sqlite:trees.db' } };
  assert.deepEqual(await runInProcess(['backups'], { ...other, columns: 200 }), {
    status: 0,
    stdout: `No backups of "trees.db" found in "${dir}"\n`,
    stderr: '',
  });
  assert.deepEqual(await runInProcess(['backups'], other), { status: 0, stdout: '', stderr: '' });
});

test('restore accepts the name of a scheduled backup, and latest', async () => {
  for (const [given, plants] of [
    [NAMES[0], 1n],
    ['latest', 2n],
  ] as const) {
    for (const suffix of ['', '-wal', '-shm']) rmSync(database + suffix, { force: true });
    const { status, stdout } = await runInProcess(['restore', given], { env });
    assert.deepEqual([status, JSON.parse(stdout).from], [0, join(dir, NAMES[plants === 1n ? 0 : 1])]);
    assert.deepEqual(query(database, 'SELECT count(*) AS plants FROM plants'), [{ plants }]);
  }
});

test('latest does not stand for a backup that is empty or older than one from the future', async () => {
  const other = { ...env, DATABASE_URL: 'sqlite:trees.db' };
  const [first, last] = ['trees-2026-01-18T03-00-00Z.db', 'trees-2999-01-01T00-00-00Z.db'] as const;
  writeFileSync(join(dir, 'trees-2026-01-18T02-00-00Z.db'), 'x');
  writeFileSync(join(dir, first), '');
  const empty = await runInProcess(['restore', 'latest'], { env: other });
  assert.deepEqual(
    [empty.status, empty.stderr],
    [
      1,
      `plant-store: The newest backup, ${first}, is empty. Restore the next older one by its name, trees-2026-01-18T02-00-00Z.db.\n`,
    ],
  );
  writeFileSync(join(dir, last), '');
  const future = await runInProcess(['restore', 'latest'], { env: other });
  assert.deepEqual(
    [future.status, future.stderr.includes(`The newest backup, ${last}, is from the future. `)],
    [1, true],
  );
  const { stdout } = await runInProcess(['backups'], { env: other, columns: 100 });
  assert.match(stdout, /^trees-2999\S+ +2999-01-01 00:00:00Z +- +0 KiB$/m);
  for (const name of [first, last, 'trees-2026-01-18T02-00-00Z.db']) rmSync(join(dir, name));
});

const POSTGRES = { DATABASE_URL: 'postgres://db.example.com/plants' };
const REFUSED: [what: string, args: string[], env: Record<string, string>, status: number, message: RegExp][] = [
  [
    'a list without a folder',
    ['backups'],
    {},
    2,
    /^plant-store: No folder to list\. Set BACKUP_DIR, or add --dir\.\n$/,
  ],
  ['a list of a missing folder', ['backups', '--dir', 'x'], {}, 2, /Cannot read the folder "x" \(ENOENT\)/],
  ['a list with an argument', ['backups', 'more'], env, 2, /Too many arguments/],
  ['a list on PostgreSQL', ['backups'], POSTGRES, 2, /supports SQLite only/],
  [
    'an unknown name without a folder',
    ['restore', 'x.db'],
    {},
    1,
    /not found: "x\.db"\..* set BACKUP_DIR or add --dir\.\n$/,
  ],
  [
    'an unknown name',
    ['restore', 'x.db'],
    env,
    1,
    /not found: "x\.db", neither in the current folder nor in ".*backups"\. /,
  ],
  ['an unknown path', ['restore', '../x.db'], env, 1, /File not found: "\.\.\/x\.db"\n$/],
  ['an empty name', ['restore', ''], env, 2, /must be a path or a name, not ""\n$/],
  ['a name in an empty folder', ['restore', 'x.db', '--dir', ''], env, 2, /--dir must be a folder, not ""\n$/],
  ['a list of an empty folder', ['backups', '--dir', ''], env, 2, /--dir must be a folder, not ""\n$/],
  ['latest without a folder', ['restore', 'latest'], {}, 2, /set BACKUP_DIR or add --dir\.\n$/],
  [
    'latest without a backup',
    ['restore', 'latest'],
    { ...env, DATABASE_URL: 'sqlite:trees.db' },
    1,
    /No backups of "trees/,
  ],
  ['a schedule on PostgreSQL', ['serve'], { BACKUP_DIR: 'x', ...POSTGRES }, 2, /BACKUP_DIR supports SQLite only/],
];

for (const [what, args, given, expected, message] of REFUSED) {
  test(`${what} fails with exit status ${expected}`, async () => {
    const { status, stdout, stderr } = await runInProcess(args, { env: given });
    assert.deepEqual([status, stdout], [expected, '']);
    assert.match(stderr, message);
  });
}
