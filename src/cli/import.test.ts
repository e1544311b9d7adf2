// Tests of import and export, on the database and through a server.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { existsSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { ADVISED_COMMAND, type InProcessOptions, type Run, runInProcess } from '../../testing/command-line.ts';
import { freePort } from '../../testing/free-port.ts';
import { answer, serveInTurn } from '../../testing/scripted-server.ts';
import { LAUNCHER, makeFolder, makeStoreFolder, needs, query } from '../../testing/server.ts';
import { startTestService } from '../../testing/service.ts';
import { until } from '../../testing/until.ts';
import { createClient } from '../client/client.ts';
import { SCOPES } from '../domain/names.ts';

/** Runs a command on the database in a folder. */
function run(folder: string, args: string[], { env, ...options }: InProcessOptions = {}): Promise<Run> {
  return runInProcess(args, { env: { DATABASE_URL: `sqlite:${folder}/plants.db`, ...env }, ...options });
}

function makeNdjson(count: number, from = 0): string {
  return Array.from({ length: count }, (_, n) => `{"id":${from + n},"name":"Plant ${from + n}"}\n`).join('');
}

suite('import and export', () => {
  test('use the database directly, in both formats, by extension or by --format', async () => {
    const folder = await makeStoreFolder();
    const [input, output] = [join(folder, 'in.csv'), join(folder, 'out.csv')];
    const csv = 'id,name,tag\n-9223372036854775808,"a ""b"",\nc",=1+1\n9223372036854775807,Été,""\n';
    writeFileSync(input, csv);
    assert.deepEqual(JSON.parse((await run(folder, ['import', input])).stdout), { created: 2, replayed: 0, failed: 0 });
    assert.equal((await run(folder, ['export', output])).status, 0);
    assert.equal(readFileSync(output, 'utf8'), csv);
    assert.equal(
      (await run(folder, ['export', '-'])).stdout,
      '{"id":-9223372036854775808,"name":"a \\"b\\",\\nc","tag":"=1+1"}\n{"id":9223372036854775807,"name":"Été","tag":""}\n',
    );
    assert.equal((await run(folder, ['export', '-', '--format', 'csv'])).stdout, csv);
    const piped = await run(folder, ['import', '-', '--format', 'csv'], { input: [csv] });
    assert.deepEqual(JSON.parse(piped.stdout), { created: 0, replayed: 2, failed: 0 });
    assert.deepEqual(readdirSync(folder).sort(), ['in.csv', 'out.csv', 'plants.db', 'plants.db.lock']);
    assert.deepEqual(query(join(folder, 'plants.db'), 'SELECT DISTINCT token_id FROM changes'), [{ token_id: 'cli' }]);
  });

  test('import reports every bad line, stores all others, and ends with status 1', async () => {
    const folder = await makeStoreFolder();
    const lines = Array.from({ length: 3000 }, (_, n) => (n % 2 === 0 ? `{"id":${n}}` : `{"id":${n},"name":"x"}`));
    const { status, stdout, stderr } = await run(folder, ['import', '-'], { input: [lines.join('\n')] });
    assert.equal(status, 1);
    assert.deepEqual(JSON.parse(stdout), { created: 1500, replayed: 0, failed: 1500 });
    assert.deepEqual(
      stderr
        .trim()
        .split('\n')
        .filter((line) => line.startsWith('Line ')), // other lines show progress on a slow machine
      lines.flatMap((_, n) => (n % 2 === 0 ? [`Line ${n + 1}: "name" is missing`] : [])),
    );
  });

  test('use a server with --url and the token from the environment', async () => {
    const service = await startTestService();
    const folder = makeFolder();
    const env = { PLANT_STORE_TOKEN: service.secret };
    const input = [`${makeNdjson(2500)}{"id":7,"name":"other"}\n`];
    const first = await run(folder, ['import', '-', '--url', service.url], { env, input });
    assert.deepEqual(JSON.parse(first.stdout), { created: 2500, replayed: 0, failed: 1 });
    assert.match(first.stderr, /^Line 2501: Id 7 belongs to another plant.*\n$/);
    const output = join(folder, 'out.ndjson');
    assert.equal((await run(folder, ['export', output, '--url', service.url], { env })).status, 0);
    assert.equal(readFileSync(output, 'utf8'), makeNdjson(2500));
    assert.equal(existsSync(join(folder, 'plants.db')), false);

    const { secret } = await service.addToken({ scopes: ['plants:write'] });
    const target = join(folder, 'no.csv');
    const refused = await run(folder, ['export', target, '--url', service.url], { env: { PLANT_STORE_TOKEN: secret } });
    assert.equal(refused.status, 5);
    assert.match(
      refused.stderr,
      new RegExp(
        `^plant-store: .*plants:read.*"${ADVISED_COMMAND} token create --name NAME --scopes all --database" in the folder of the server\\.\n$`,
      ),
    );
    assert.equal(existsSync(target), false);
    const gone = await run(folder, ['export', '-', '--url', 'http://127.0.0.1:1'], { env });
    assert.equal(gone.status, 6);
    assert.match(gone.stderr, /^plant-store: [^\n]+\n$/);
  });

  test('an import to a server has one request in flight, so that none is refused for its share', async () => {
    const service = await startTestService();
    const { secret } = await service.addToken({ scopes: [...SCOPES] });
    const args = ['import', '-', '--url', service.url];
    const { status, stdout } = await run(makeFolder(), args, {
      env: { PLANT_STORE_TOKEN: secret },
      input: [makeNdjson(30_000)],
    });
    assert.deepEqual([status, JSON.parse(stdout)], [0, { created: 30_000, replayed: 0, failed: 0 }]);
    const { refused } = await createClient({ url: service.url, token: secret }).status();
    assert.equal(refused.share, 0);
    await service.stop();
  });

  test('files from Excel are converted, the command says how it read them, and lines keep their numbers', async () => {
    const folder = makeFolder();
    const rows = 'id;name;tag\r\n1;Gänseblümchen;Wiese, feucht\r\n1,5E+18;x;\r\n2;"Weiß; rot";""\r\n';
    const exported = 'id,name,tag\n1,Gänseblümchen,"Wiese, feucht"\n2,Weiß; rot,""\n';
    const rounded = '"id" must be an integer, not 1,5E+18. A spreadsheet rounded it: save that column as text';
    const service = await startTestService();
    const env = { PLANT_STORE_TOKEN: service.secret };
    const counts = { created: 2, replayed: 0, failed: 1 };
    for (const [name, bytes, words, line] of [
      ['excel.csv', Buffer.from(rows, 'latin1'), 'CSV with semicolons in Windows-1252', 3],
      ['unicode.txt', Buffer.from(`\ufeff${rows}`, 'utf16le'), 'CSV with semicolons in UTF-16LE', 3],
      ['named.tsv', Buffer.from(`sep=;\r\n${rows}`), 'CSV with semicolons', 4],
    ] as const) {
      const file = join(folder, name);
      writeFileSync(file, bytes);
      const dry = await run(folder, ['import', file, '--dry-run', '--url', service.url], { env });
      assert.deepEqual(JSON.parse(dry.stdout), counts);
      assert.equal(dry.stderr, `Read as ${words}.\nLine ${line}: ${rounded}\n`);
      const database = await makeStoreFolder();
      for (const args of [
        ['import', file],
        ['import', '-', '--format', 'csv', '--dry-run'],
      ]) {
        const input = args[1] === '-' ? [bytes.subarray(0, 30), bytes.subarray(30)] : [];
        const { stdout, stderr } = await run(database, args, { input });
        assert.equal(JSON.parse(stdout).failed, 1);
        assert.ok(stderr.endsWith(`Read as ${words}.\nLine ${line}: ${rounded}\n`), stderr);
      }
      assert.equal((await run(database, ['export', '-', '--format', 'csv'])).stdout, exported);
    }
    const file = join(folder, 'excel.csv');
    const sent = await run(folder, ['import', file, '--url', service.url], { env });
    assert.deepEqual(JSON.parse(sent.stdout), counts);
    assert.equal(
      (await run(folder, ['export', '-', '--format', 'csv', '--url', service.url], { env })).stdout,
      exported,
    );
  });

  test('--delimiter and --encoding override what import recognises', async () => {
    const folder = await makeStoreFolder();
    const bytes = Buffer.concat([Buffer.from('id|name\n1|'), Buffer.from([0x9f, 0xf3, 0xb3]), Buffer.from('; x\n')]);
    const args = ['import', '-', '--format', 'csv', '--delimiter', '|', '--encoding', 'cp1250'];
    const { stderr } = await run(folder, args, { input: [bytes] });
    assert.match(stderr, /^Read as CSV with "\|" in Windows-1250\.$/m);
    assert.equal((await run(folder, ['export', '-'])).stdout, '{"id":1,"name":"źół; x"}\n');
    const tabs = ['import', '-', '--format', 'csv', '--delimiter', '\\t'];
    assert.equal((await run(folder, tabs, { input: ['a\tid\tname\n;;\t2\tb\n'] })).status, 0);
  });

  for (const [name, args, message] of [
    ['an unknown encoding', ['import', 'x.csv', '--encoding', 'utf-9'], '--encoding must be the name of an encoding'],
    ['a long delimiter', ['import', 'x.csv', '--delimiter', '::'], '--delimiter must be comma, semicolon, tab or one'],
    ['an encoding of NDJSON', ['import', 'x.jsonl', '--encoding', 'latin1'], '--encoding applies to CSV, and the'],
    ['a missing file', ['import', 'nope.csv'], 'File not found: nope.csv'],
    ['a folder', ['import', '.', '--format', 'csv'], '. is a folder, not a file'],
    ['a file name without a known extension', ['import', 'plants.dat'], 'Add --format ndjson or --format csv'],
    ['a workbook', ['import', 'plants.xlsx'], 'Plant Store reads and writes no workbooks. Use CSV'],
    ['a compressed file', ['export', 'plants.csv.gz'], 'Use gzip in a pipe, with - as the file'],
    ['a path that is too long', ['import', `${'a'.repeat(300)}.csv`], 'aaa.csv: name too long'],
    ['an unknown format', ['import', '-', '--format', 'xml'], '--format must be ndjson or csv, not "xml"'],
    ['an invalid URL', ['import', '-', '--url', 'localhost'], '--url must be the URL of a server'],
    ['a URL without a token', ['import', '-', '--url', 'http://127.0.0.1:1'], 'set PLANT_STORE_TOKEN'],
    ['an export without a database', ['export', 'FOLDER/x.csv'], 'No database at FOLDER/plants.db'],
    ['a backup without a database', ['backup', 'FOLDER/x.db'], 'No database at FOLDER/plants.db'],
    ['a restore without a backup', ['restore', 'FOLDER/x.db'], 'File not found: "FOLDER/x.db"'],
    ['an invalid duration', ['changes', 'prune', '--older-than', 'soon'], '--older-than '],
  ] as [string, string[], string][]) {
    test(`${name} is rejected in one line, and no file is created`, async () => {
      const folder = makeFolder();
      const inFolder = (text: string) => text.replace('FOLDER', folder);
      const { status, stderr } = await run(folder, args.map(inFolder));
      assert.ok([1, 2, 5].includes(Number(status)));
      assert.match(stderr, /^plant-store: [^\n]+\n$/);
      assert.ok(stderr.includes(inFolder(message)), stderr);
      assert.deepEqual(readdirSync(folder), []);
    });
  }

  test('unknown columns are reported, also through a server, and the case of the header row does not matter', async () => {
    const folder = await makeStoreFolder();
    const service = await startTestService();
    const env = { PLANT_STORE_TOKEN: service.secret };
    for (const where of [[], ['--dry-run'], ['--url', service.url], ['--url', service.url, '--dry-run']]) {
      const args = ['import', '-', '--format', 'csv', ...where];
      const { stderr, stdout } = await run(folder, args, { env, input: ['ID,Name,tga\n1,Rosa,shrub\n'] });
      assert.equal(JSON.parse(stdout).failed, 0);
      assert.equal(stderr, 'Columns not imported: tga\n');
    }
    const quoted = { input: ['"id","name",,"tag"\r\n"2","Rosa",,"shrub"\r\n'] };
    assert.equal((await run(folder, ['import', '-', '--format', 'csv'], quoted)).stderr, '');
    await service.stop();
  });

  test('import shows a bar on a terminal, then a summary', async () => {
    const folder = await makeStoreFolder();
    const file = join(folder, 'in.ndjson');
    writeFileSync(file, `${makeNdjson(1500)}nope\n`);
    const { stdout, stderr } = await run(folder, ['import', file], { columns: 120 });
    assert.match(stderr, /Importing -{30} 0 % \| 0 plants \| 0\/s \| \? left/);
    assert.ok(stderr.includes('\r\x1b[KLine 1501: '), stderr);
    assert.equal(stdout, '1,500 plants imported, 0 already stored, 1 line failed.\n');
  });
});

suite('an interrupted import', () => {
  test('keeps whole batches, and a second run completes it', async () => {
    const folder = await makeStoreFolder();
    const path = join(folder, 'plants.db');
    const signals = new EventEmitter();
    const [first, second] = [makeNdjson(4000), makeNdjson(4000, 4000)];
    async function* input() {
      yield first;
      await until(() => hasPlants(path));
      signals.emit('SIGINT');
      yield second;
    }
    const { status, stdout, stderr } = await run(folder, ['import', '-'], { input: input(), signals });
    assert.equal(status, 130);
    assert.match(stderr, /Interrupted\. All counted plants are stored\. Run the command again to continue\.\n/);
    const { created } = JSON.parse(stdout);
    assert.ok(created > 0 && created < 8000, `${created} were stored`);
    const counts = 'SELECT (SELECT count(*) FROM plants) AS plants, (SELECT count(*) FROM changes) AS changes';
    assert.deepEqual(query(path, counts), [{ plants: BigInt(created), changes: BigInt(created) }]);
    const again = await run(folder, ['import', '-'], { input: [first, second] });
    assert.deepEqual(JSON.parse(again.stdout), { created: 8000 - created, replayed: created, failed: 0 });
  });

  test('ends its process with status 130 while it waits for input', async (t) => {
    const folder = await makeStoreFolder();
    const child = spawn(process.execPath, [LAUNCHER, 'import', '-'], {
      env: { PATH: process.env.PATH, DATABASE_URL: `sqlite:${folder}/plants.db` },
    });
    t.after(() => child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    child.stdin.write(makeNdjson(8000));
    await until(() => hasPlants(join(folder, 'plants.db')));
    child.kill('SIGINT');
    assert.deepEqual(await exited, [130, null]);
  });
});

test('an import beside a running server loses nothing, and the server keeps writing', async () => {
  const service = await startTestService();
  const file = join(makeFolder(), 'in.ndjson');
  writeFileSync(file, makeNdjson(20_000));
  const child = spawn(process.execPath, [LAUNCHER, 'import', file], {
    env: { PATH: process.env.PATH, DATABASE_URL: service.databaseUrl },
    stdio: 'ignore',
  });
  let done = false;
  const exited = once(child, 'exit').finally(() => (done = true));
  const client = createClient({ url: service.url, token: service.secret });
  let id = -1n;
  for (; !done; id--) await client.create({ id, name: 'meanwhile' });
  assert.deepEqual(await exited, [0, null]);
  assert.equal((await client.list({ q: 'meanwhile', limit: 1 })).records.length, 1);
  await service.stop();
  const [{ plants, changes, last } = {}] = query(
    service.databasePath,
    'SELECT (SELECT count(*) FROM plants) AS plants, (SELECT count(*) FROM changes) AS changes, (SELECT max(seq) FROM changes) AS last',
  );
  assert.deepEqual([plants, changes, last], Array(3).fill(20_000n - id - 1n));
});

test('an import to an unreachable server reports it without the password', async () => {
  const env = { PLANT_STORE_TOKEN: 'pst_x' };
  const away = await run(makeFolder(), ['import', '-', '--url', `http://me:geheim@127.0.0.1:${await freePort()}`], {
    env,
    input: [makeNdjson(1)],
  });
  assert.doesNotMatch(away.stderr, /geheim/);
  assert.match(away.stderr, /^plant-store: Cannot reach .*: connection refused\. Start a server/m);
  assert.equal(away.status, 6);
});

test('an import that fails in the middle prints what was stored before', async () => {
  const stored = answer(200, '{"created":1000,"replayed":0,"failed":0,"errors":[]}');
  const { url } = await serveInTurn([stored, answer(403, '{"error":40300,"message":"No."}')]);
  const input = [makeNdjson(40_000), makeNdjson(40_000)];
  const { status, stdout, stderr } = await run(makeFolder(), ['import', '-', '--url', url], {
    env: { PLANT_STORE_TOKEN: 'pst_x' },
    input,
  });
  assert.equal(status, 5, stderr);
  assert.deepEqual(JSON.parse(stdout), { created: 1000, replayed: 0, failed: 0 });
});

test('a file that cannot be opened is reported in one line', { skip: process.platform === 'win32' }, async () => {
  const folder = await makeStoreFolder();
  const path = join(folder, 'socket.csv');
  const socket = createServer().listen(path);
  await once(socket, 'listening');
  const { status, stderr } = await run(folder, ['import', path]);
  socket.close();
  assert.deepEqual(
    [status, stderr],
    [1, `plant-store: Cannot read ${path}: ENXIO: no such device or address, open '${path}'\n`],
  );
});

suite('export', () => {
  test('writes through a symbolic link, and into a pipe', needs('mkfifo', 'cat'), async () => {
    const folder = await makeStoreFolder();
    await run(folder, ['import', '-'], { input: [makeNdjson(3)] });
    const link = join(folder, 'link.csv');
    symlinkSync('real.csv', link);
    writeFileSync(join(folder, 'real.csv'), 'old');
    assert.deepEqual(JSON.parse((await run(folder, ['export', link])).stdout), { file: link, plants: 3 });
    assert.equal(lstatSync(link).isSymbolicLink(), true);
    assert.match(readFileSync(join(folder, 'real.csv'), 'utf8'), /^id,name,tag\n0,Plant 0,\n/);
    const pipe = join(folder, 'pipe.ndjson');
    execFileSync('mkfifo', [pipe]);
    const reader = spawn('cat', [pipe]);
    const [read] = await Promise.all([reader.stdout.toArray(), run(folder, ['export', pipe])]);
    assert.equal(read.join(''), makeNdjson(3));
  });

  test('keeps the mode of the file that it replaces, and does not follow a link at the path of its draft', async () => {
    const folder = await makeStoreFolder();
    await run(folder, ['import', '-'], { input: [makeNdjson(3)] });
    const output = join(folder, 'out.csv');
    writeFileSync(output, 'old', { mode: 0o600 });
    writeFileSync(join(folder, 'other'), 'unrelated');
    symlinkSync('other', `${output}.part`);
    assert.equal((await run(folder, ['export', output])).status, 0);
    if (process.platform !== 'win32') assert.equal(statSync(output).mode & 0o777, 0o600);
    assert.match(readFileSync(output, 'utf8'), /^id,name,tag\n0,Plant 0,\n/);
    assert.equal(readFileSync(join(folder, 'other'), 'utf8'), 'unrelated');
  });
});

function hasPlants(path: string): boolean {
  try {
    return query(path, 'SELECT 1 FROM plants LIMIT 1').length > 0;
  } catch {
    return false;
  }
}
