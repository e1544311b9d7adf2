// plant-store import, export, backup, restore and changes prune, as people and scripts run them.

import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../testing/free-port.ts';
import { addToken, LAUNCHER, makeFolder, needs, needsTerminal, query, startServer } from '../../testing/server.ts';
import { createClient } from '../client/client.ts';

interface Run {
  status: number | null;
  stdout: string;
  stderr: string;
}

function run(
  folder: string,
  args: string[],
  { env = {}, input = '' }: { env?: Record<string, string>; input?: string } = {},
): Run {
  return spawnSync(process.execPath, [LAUNCHER, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, DATABASE_URL: 'sqlite:plants.db', ...env },
    input,
    encoding: 'utf8',
  });
}

function makeNdjson(count: number, from = 0): string {
  return Array.from({ length: count }, (_, n) => `{"id":${from + n},"name":"Plant ${from + n}"}\n`).join('');
}

suite('the command line on files', { concurrency: 2 }, () => {
  test('import and export go straight into the database, in both formats, by name or by flag', () => {
    const folder = makeFolder();
    const csv = 'id,name,tag\n-9223372036854775808,"a ""b"",\nc",=1+1\n9223372036854775807,Été,""\n';
    writeFileSync(join(folder, 'in.csv'), csv);
    assert.deepEqual(JSON.parse(run(folder, ['import', 'in.csv']).stdout), { created: 2, replayed: 0, failed: 0 });
    assert.equal(run(folder, ['export', 'out.csv']).status, 0);
    assert.equal(readFileSync(join(folder, 'out.csv'), 'utf8'), csv);
    assert.equal(
      run(folder, ['export', '-']).stdout,
      '{"id":-9223372036854775808,"name":"a \\"b\\",\\nc","tag":"=1+1"}\n{"id":9223372036854775807,"name":"Été","tag":""}\n',
    );
    assert.equal(run(folder, ['export', '-', '--format', 'csv']).stdout, csv);
    const piped = run(folder, ['import', '-', '--format', 'csv'], { input: csv });
    assert.deepEqual(JSON.parse(piped.stdout), { created: 0, replayed: 2, failed: 0 });
    assert.deepEqual(readdirSync(folder).sort(), ['in.csv', 'out.csv', 'plants.db', 'plants.db.lock']);
    assert.deepEqual(query(join(folder, 'plants.db'), 'SELECT DISTINCT token_id FROM changes'), [{ token_id: 'cli' }]);
  });

  test('import names every bad line, stores all others, and ends with 1', () => {
    const folder = makeFolder();
    const lines = Array.from({ length: 5000 }, (_, n) => (n % 2 === 0 ? `{"id":${n}}` : `{"id":${n},"name":"x"}`));
    writeFileSync(join(folder, 'in.jsonl'), lines.join('\n'));
    const { status, stdout, stderr } = run(folder, ['import', 'in.jsonl']);
    assert.ok(stderr.startsWith('Making a new store at plants.db\n'));
    assert.equal(status, 1);
    assert.deepEqual(JSON.parse(stdout), { created: 2500, replayed: 0, failed: 2500 });
    assert.deepEqual(
      stderr
        .trim()
        .split('\n')
        .filter((line) => line.startsWith('Line ')), // others tell how far it is, where it takes seconds
      lines.flatMap((_, n) => (n % 2 === 0 ? [`Line ${n + 1}: "name" is missing`] : [])),
    );
  });

  test('import and export talk to a server, with the token from the environment', async () => {
    const server = await startServer();
    const folder = makeFolder();
    writeFileSync(join(folder, 'in.ndjson'), `${makeNdjson(2500)}{"id":7,"name":"other"}\n`);
    const env = { PLANT_STORE_TOKEN: server.secret };
    const first = run(folder, ['import', 'in.ndjson', '--url', server.url], { env });
    assert.deepEqual(JSON.parse(first.stdout), { created: 2500, replayed: 0, failed: 1 });
    assert.equal(first.stderr, 'Line 2501: Id 7 belongs to another plant: take another id\n');
    assert.equal(run(folder, ['export', 'out.ndjson', '--url', server.url], { env }).status, 0);
    assert.equal(readFileSync(join(folder, 'out.ndjson'), 'utf8'), makeNdjson(2500));
    assert.equal(existsSync(join(folder, 'plants.db')), false);

    const { secret } = await addToken(server.databaseUrl, { scopes: ['plants:write'] });
    const refused = run(folder, ['export', 'no.csv', '--url', server.url], { env: { PLANT_STORE_TOKEN: secret } });
    assert.deepEqual(
      [refused.status, refused.stderr],
      [
        1,
        'plant-store: The token lacks the scope "plants:read" (PLANT_STORE_TOKEN; "npm run --silent plant-store -- token create" takes --scopes)\n',
      ],
    );
    assert.equal(existsSync(join(folder, 'no.csv')), false);
    await server.stop();
    const away = run(folder, ['import', 'in.ndjson', '--url', `http://me:geheim@127.0.0.1:${await freePort()}`], {
      env,
    });
    assert.doesNotMatch(away.stderr, /geheim/);
    assert.match(away.stderr, /^plant-store: No plant store answers at .*ECONNREFUSED.* starts one/m);
    assert.equal(away.status, 1);
    const gone = run(folder, ['export', '-', '--url', 'http://127.0.0.1:1'], { env });
    assert.equal(gone.status, 1);
    assert.match(gone.stderr, /^plant-store: [^\n]+\n$/);
  });

  for (const [name, args, says] of [
    ['no such file', ['import', 'nope.csv'], 'There is no file nope.csv'],
    ['a folder', ['import', '.', '--format', 'csv'], '. is a folder'],
    ['a name that tells no format', ['import', 'plants.txt'], 'add --format ndjson or --format csv'],
    ['a format that nobody knows', ['import', '-', '--format', 'xml'], '--format takes ndjson or csv, not "xml"'],
    ['a URL that is none', ['import', '-', '--url', 'localhost'], '--url takes the address of a server'],
    ['a URL without a token', ['import', '-', '--url', 'http://127.0.0.1:1'], 'set PLANT_STORE_TOKEN'],
    ['an export of nothing', ['export', 'x.csv'], 'There is no database at plants.db'],
    ['a backup of nothing', ['backup', 'x.db'], 'There is no database at plants.db'],
    ['a restore from nothing', ['restore', 'x.db'], 'There is no file x.db'],
    [
      'a span of time that is none',
      ['changes', 'prune', '--older-than', 'soon'],
      '--older-than takes a number and a unit',
    ],
  ] as [string, string[], string][]) {
    test(`${name} is refused in one line, and nothing is made`, () => {
      const folder = makeFolder();
      const { status, stderr } = run(folder, args);
      assert.ok(status === 1 || status === 2);
      assert.match(stderr, /^plant-store: [^\n]+\n$/);
      assert.ok(stderr.includes(says), stderr);
      assert.deepEqual(readdirSync(folder), []);
    });
  }

  test('Ctrl-C in an import leaves whole batches, and a second run finishes the work', async () => {
    const folder = makeFolder();
    const count = 400_000;
    writeFileSync(join(folder, 'in.ndjson'), makeNdjson(count));
    const child = spawn(process.execPath, [LAUNCHER, 'import', 'in.ndjson'], {
      cwd: folder,
      env: { PATH: process.env.PATH, DATABASE_URL: 'sqlite:plants.db' },
    });
    const exited = once(child, 'exit');
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    const path = join(folder, 'plants.db');
    while (!existsSync(path) || !hasPlants(path)) await sleep(20);
    child.kill('SIGINT');
    assert.deepEqual(await exited, [130, null]);
    assert.match(output, /Stopped: what is counted here is stored; run it again to go on\n/);
    const counted = JSON.parse(/{.*}/.exec(output)?.[0] ?? '');
    const [stored] = query(
      path,
      'SELECT (SELECT count(*) FROM plants) AS plants, (SELECT count(*) FROM changes) AS changes',
    );
    assert.deepEqual(stored, { plants: BigInt(counted.created), changes: BigInt(counted.created) });
    assert.ok(counted.created > 0 && counted.created < count, `${counted.created} were stored`);
    const second = JSON.parse(run(folder, ['import', 'in.ndjson']).stdout);
    assert.deepEqual(second, { created: count - counted.created, replayed: counted.created, failed: 0 });
  });

  test('an import beside a running server: both write, and nothing is lost', async () => {
    const server = await startServer();
    const folder = makeFolder();
    writeFileSync(join(folder, 'in.ndjson'), makeNdjson(100_000));
    const child = spawn(process.execPath, [LAUNCHER, 'import', 'in.ndjson'], {
      cwd: folder,
      env: { PATH: process.env.PATH, DATABASE_URL: server.databaseUrl },
      stdio: 'ignore',
    });
    let done = false;
    const exited = once(child, 'exit').finally(() => (done = true));
    const client = createClient({ url: server.url, token: server.secret });
    let id = -1n;
    for (; !done; id--) await client.create({ id, name: 'meanwhile' });
    assert.deepEqual(await exited, [0, null]);
    assert.equal((await client.list({ q: 'meanwhile', limit: 1 })).records.length, 1);
    await server.stop();
    const [{ plants, changes, last } = {}] = query(
      server.databasePath,
      'SELECT (SELECT count(*) FROM plants) AS plants, (SELECT count(*) FROM changes) AS changes, (SELECT max(seq) FROM changes) AS last',
    );
    assert.deepEqual([plants, changes, last], Array(3).fill(100_000n - id - 1n));
  });

  test('backup makes a consistent copy of a store in use; restore brings it back, with numbers that are new', async () => {
    const server = await startServer();
    const folder = makeFolder();
    const client = createClient({ url: server.url, token: server.secret });
    let stop = false;
    let id = 0n;
    const writing = (async () => {
      for (; !stop; id++) await client.create({ id, name: `Été ${id}`, tag: 'Tree' });
      return id;
    })();
    while (id < 10n) await sleep(20);
    const source = { DATABASE_URL: server.databaseUrl };
    const { status, stdout } = run(folder, ['backup', 'backup.db'], { env: source });
    assert.equal(status, 0);
    assert.equal(JSON.parse(stdout).bytes, statSync(join(folder, 'backup.db')).size);
    const again = run(folder, ['backup', 'backup.db'], { env: source });
    assert.deepEqual(
      [again.status, again.stderr],
      [1, 'plant-store: backup.db is there already: a backup does not replace another file\n'],
    );
    for (const enough = id + 10n; id < enough; ) await sleep(20);
    stop = true;
    const written = await writing;
    const running = run(folder, ['restore', 'backup.db'], { env: source });
    assert.deepEqual([running.status, /A server is using/.test(running.stderr)], [1, true]);
    const lastSeq = (await client.get(written - 1n)).seq;
    await server.stop();
    const present = run(folder, ['restore', 'backup.db'], { env: source });
    assert.match(present.stderr, /is there already: move it away first/);

    assert.equal(run(folder, ['restore', 'backup.db']).status, 0);
    assert.deepEqual(readdirSync(folder).sort(), ['backup.db', 'plants.db', 'plants.db.lock']);
    if (process.platform !== 'win32') assert.equal(statSync(join(folder, 'plants.db')).mode & 0o777, 0o600);
    const restored = await startServer({ folder });
    const other = createClient({ url: restored.url, token: server.secret, retries: 0 });
    const { plants } = await other.export();
    const copied = await Array.fromAsync(plants);
    assert.ok(copied.length > 0 && BigInt(copied.length) < written, `${copied.length} of ${written}`);
    assert.deepEqual(
      copied,
      copied.map((_, n) => ({ id: BigInt(n), name: `Été ${n}`, tag: 'Tree' })),
    );
    assert.equal((await other.list({ q: 'ete 5', tag: 'Tree', limit: 1 })).records[0]?.id, 5n);
    const { seq } = await other.create({ id: -1n, name: 'after' });
    assert.ok(seq > lastSeq, `${seq} after ${lastSeq}`);
    await assert.rejects(other.changes({ after: lastSeq }), { code: 'changes_pruned' });
    assert.deepEqual(
      (await other.changes({ after: seq - 1 })).map((change) => change.seq),
      [seq],
    );
    await restored.stop();
  });

  test('a backup of a store that is not in use can be restored at once, and the log can be read on', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'in.ndjson'), makeNdjson(10));
    run(folder, ['import', 'in.ndjson']);
    assert.equal(run(folder, ['backup', 'backup.db']).status, 0);
    renameSync(join(folder, 'plants.db'), join(folder, 'old.db'));
    const restored = run(folder, ['restore', 'backup.db']);
    assert.equal(restored.status, 0, restored.stderr);
    assert.match(restored.stderr, /tokens are those of the backup/);
    const server = await startServer({ folder });
    const client = createClient({ url: server.url, token: server.secret });
    const { seq } = await client.create({ id: 100n, name: 'new' });
    const pages = [
      await client.changes({ limit: 3 }),
      await client.changes({ after: 3, limit: 7 }),
      await client.changes({ after: 10 }),
    ];
    assert.deepEqual(
      pages.flat().map((change) => change.seq),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, seq],
    );
    assert.equal((await client.export()).seq, seq);
    await assert.rejects(client.changes({ after: 11 }), { code: 'changes_pruned' });
    await server.stop();
  });

  test('a backup of the first version is restored with new numbers, too', async () => {
    const folder = makeFolder();
    const old = new DatabaseSync(join(folder, 'backup.db'));
    old.exec(
      readFileSync(join(import.meta.dirname, '../storage/sqlite/migrations/0001_plants_changes_tokens.sql'), 'utf8'),
    );
    old.exec(`PRAGMA user_version = 1;
      INSERT INTO plants VALUES (1, 'Été', NULL, 1, 1, 1);
      INSERT INTO changes VALUES (1, 'plant.created', 1, 1, 'Été', NULL, 'tok_1')`);
    old.close();
    assert.equal(run(folder, ['restore', 'backup.db']).status, 0);
    const server = await startServer({ folder });
    const client = createClient({ url: server.url, token: server.secret });
    assert.equal((await client.list({ q: 'ete' })).records.length, 1);
    assert.ok((await client.create({ id: 2n, name: 'x' })).seq > 1_000_000);
    await server.stop();
  });

  test('export writes through a link, and into a pipe', needs('mkfifo', 'cat'), () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'in.ndjson'), makeNdjson(3));
    run(folder, ['import', 'in.ndjson']);
    symlinkSync('real.csv', join(folder, 'link.csv'));
    writeFileSync(join(folder, 'real.csv'), 'old');
    assert.deepEqual(JSON.parse(run(folder, ['export', 'link.csv']).stdout), { file: 'link.csv', plants: 3 });
    assert.equal(lstatSync(join(folder, 'link.csv')).isSymbolicLink(), true);
    assert.match(readFileSync(join(folder, 'real.csv'), 'utf8'), /^id,name,tag\n0,Plant 0,\n/);
    execFileSync('mkfifo', [join(folder, 'pipe.ndjson')]);
    const reading = `cat pipe.ndjson > read & "${process.execPath}" "${LAUNCHER}" export pipe.ndjson; wait`;
    execFileSync('sh', ['-c', reading], {
      cwd: folder,
      env: { PATH: process.env.PATH, DATABASE_URL: 'sqlite:plants.db' },
    });
    assert.equal(readFileSync(join(folder, 'read'), 'utf8'), makeNdjson(3));
  });

  test('export keeps the mode of the file that it replaces, and does not write through a link to its draft', () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'in.ndjson'), makeNdjson(3));
    run(folder, ['import', 'in.ndjson']);
    writeFileSync(join(folder, 'out.csv'), 'old', { mode: 0o600 });
    writeFileSync(join(folder, 'other'), 'of somebody else');
    symlinkSync('other', join(folder, 'out.csv.part'));
    assert.equal(run(folder, ['export', 'out.csv']).status, 0);
    if (process.platform !== 'win32') assert.equal(statSync(join(folder, 'out.csv')).mode & 0o777, 0o600);
    assert.match(readFileSync(join(folder, 'out.csv'), 'utf8'), /^id,name,tag\n0,Plant 0,\n/);
    assert.equal(readFileSync(join(folder, 'other'), 'utf8'), 'of somebody else');
  });

  test('Ctrl-C ends an import that waits for its input', async () => {
    const folder = makeFolder();
    const child = spawn(process.execPath, [LAUNCHER, 'import', '-'], {
      cwd: folder,
      env: { PATH: process.env.PATH, DATABASE_URL: 'sqlite:plants.db' },
    });
    const exited = once(child, 'exit');
    child.stdin.write(makeNdjson(10));
    await once(child.stderr, 'data'); // "Making a new store": it listens to signals
    await sleep(1000);
    child.kill('SIGINT');
    assert.deepEqual(await exited, [130, null]);
  });

  test('columns that nobody knows are named, and a header in capitals is fine', () => {
    const folder = makeFolder();
    const { stderr, stdout } = run(folder, ['import', '-', '--format', 'csv'], {
      input: 'ID,Name,tga\n1,Rosa,shrub\n',
    });
    assert.deepEqual(JSON.parse(stdout), { created: 1, replayed: 0, failed: 0 });
    assert.equal(stderr, 'Making a new store at plants.db\nColumns that are not imported: tga\n');
  });

  test('restore refuses what is no backup', () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'text.db'), 'no database at all'.repeat(100));
    assert.match(run(folder, ['restore', 'text.db']).stderr, /^plant-store: .*damaged/);
    const db = new DatabaseSync(join(folder, 'other.db'));
    db.exec('CREATE TABLE x (y)');
    db.close();
    assert.match(run(folder, ['restore', 'other.db']).stderr, /is not a Plant Store database/);
    assert.equal(existsSync(join(folder, 'plants.db')), false);
  });

  test('prune removes the oldest changes and leaves the records', () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'in.ndjson'), makeNdjson(25_000));
    run(folder, ['import', 'in.ndjson']);
    const path = join(folder, 'plants.db');
    assert.equal(run(folder, ['changes', 'prune', '--older-than', '90d']).stdout, '{"pruned":0}\n');
    const db = new DatabaseSync(path);
    db.exec(`UPDATE changes SET time = time - 91 * 86400000 WHERE seq <= 24000`);
    db.close();
    assert.equal(run(folder, ['changes', 'prune', '--older-than', '90d']).stdout, '{"pruned":24000}\n');
    assert.deepEqual(query(path, 'SELECT min(seq) AS first, (SELECT count(*) FROM plants) AS plants FROM changes'), [
      { first: 24_001n, plants: 25_000n },
    ]);
  });

  test('on a terminal there is a bar with the rate and the time left, and words at the end', needsTerminal, () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'in.ndjson'), `${makeNdjson(150_000)}nope\n`);
    const command = `"${process.execPath}" "${LAUNCHER}" import in.ndjson`;
    const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
      cwd: folder,
      env: { PATH: process.env.PATH, TERM: 'xterm', COLUMNS: '120', DATABASE_URL: 'sqlite:plants.db' },
      encoding: 'utf8',
    });
    assert.match(stdout, /Importing [^\n]*\d+ % \| [\d,]+ plants \| [\d,]+\/s \| \d+ s left/);
    assert.match(stdout, /Line 150001: The line cannot be read as JSON/);
    assert.match(stdout, /150,000 plants imported, 0 were there already, 1 lines failed/);
  });
});

function hasPlants(path: string): boolean {
  try {
    return query(path, 'SELECT 1 FROM plants LIMIT 1').length > 0;
  } catch {
    return false;
  }
}
