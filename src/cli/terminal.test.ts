// Tests of add, get, list, edit, rm and watch on a running server: JSON when piped, tables on a terminal.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { after, before, suite, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { onTerminal, type Run, runInProcess, typeInto } from '../../testing/command-line.ts';
import { freePort } from '../../testing/free-port.ts';
import { LAUNCHER, needsTerminal, startServer } from '../../testing/server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { createClient } from '../client/client.ts';
import { displayWidth } from '../lib/safe-text.ts';

const MAX = '9223372036854775807';
const MIN = '-9223372036854775808';

let server: TestService;
let env: { PLANT_STORE_URL: string; PLANT_STORE_TOKEN: string };

before(async () => {
  server = await startTestService();
  env = { PLANT_STORE_URL: server.url, PLANT_STORE_TOKEN: server.secret };
});
after(() => server.stop());

function piped(args: string[], other: Record<string, string> = {}): Promise<Run> {
  return runInProcess(args, { env: { ...env, ...other } });
}

/** Returns both streams of a command that runs in this process, with a simulated terminal. */
async function onScreen(args: string[], other: Record<string, string> = {}, columns = 80): Promise<string> {
  const { stdout, stderr } = await runInProcess(args, { env: { ...env, TERM: 'xterm', ...other }, columns });
  return stdout + stderr;
}

async function json(...args: string[]) {
  const { status, stdout, stderr } = await piped(args);
  assert.equal(status, 0, stderr);
  return stdout;
}

suite('piped', () => {
  test('add, get, edit and rm print one JSON object each, with exact ids', async () => {
    const plant = `{"id":${MAX},"name":"Monstera deliciosa","tag":"tropical","version":1`;
    const add = ['add', MAX, 'Monstera deliciosa', '--tag', 'tropical'];
    assert.equal(await json(...add), `${plant},"replayed":false}\n`);
    assert.equal(await json(...add), `${plant},"replayed":true}\n`);
    const got = await json('get', MAX);
    assert.match(
      got,
      new RegExp(`^\\{"id":${MAX},"name":"Monstera deliciosa","tag":"tropical","created":"[^"]+",.*"version":1\\}\n$`),
    );
    assert.match(
      await json('edit', MAX, '--name', ''),
      new RegExp(`^\\{"id":${MAX},"name":"","tag":"tropical",.*"version":2\\}\n$`),
    );
    assert.match(
      await json('edit', MAX, '--no-tag'),
      new RegExp(`^\\{"id":${MAX},"name":"","created":.*"version":3\\}\n$`),
    );
    assert.match(await json('add', MAX, '--replace', '--', '-x'), /"name":"-x","created":.*"version":4\}\n$/);
    assert.equal(await json('rm', MAX, '--if-version', '4'), `{"removed":[${MAX}],"missing":[]}\n`);
  });

  test('a negative id is accepted in any position', async () => {
    assert.match(await json('add', MIN, 'first'), new RegExp(`^\\{"id":${MIN},`));
    assert.match(await json('get', MIN), new RegExp(`^\\{"id":${MIN},`));
    assert.match(await json('add', '-5', 'other'), /^\{"id":-5,/);
    assert.match(await json('edit', '--tag', '-1', '-5'), /^\{"id":-5,"name":"other","tag":"-1",/);
    const { status, stdout, stderr } = await piped(['rm', '-5', '-6', MIN, '--', '-7']);
    assert.equal(stdout, `{"removed":[-5,${MIN}],"missing":[-6,-7]}\n`);
    assert.equal(stderr, 'plant-store: No plant has id -6 or -7\n');
    assert.equal(status, 3);
  });

  test('list prints one plant per line, up to the limit, and reports when more plants match', async () => {
    const client = createClient({ url: server.url, token: server.secret });
    const plants = Array.from({ length: 2500 }, (_, n) => ({
      id: BigInt(n + 1),
      name: `Plant ${n + 1}`,
      tag: `t${n % 2}`,
    }));
    await client.import(plants);
    const [usual, some, all, found] = await Promise.all(
      [[], ['--limit', '1001'], ['--all'], ['--search', 'pla 25', '--tag', 't1']].map((args) =>
        piped(['list', ...args]),
      ),
    );
    const ids = (run: typeof usual) =>
      run?.stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line).id);
    const more = 'More plants match. Use --all or a larger --limit.\n';
    assert.deepEqual([ids(usual)?.length, usual?.stderr], [100, more]);
    assert.deepEqual([ids(some)?.length, ids(some)?.at(-1), some?.stderr], [1001, 1001, more]);
    assert.deepEqual(
      ids(all),
      plants.map(({ id }) => Number(id)),
    );
    assert.equal(all?.stderr, '');
    assert.deepEqual(ids(found)?.slice(0, 4), [250, 252, 254, 256]);
    await client.delete(2500n);
  });

  for (const command of ['list --all', 'watch --after 0']) {
    test(`${command} ends silently when its reader, such as head, ends`, async () => {
      const words = `"${process.execPath}" "${LAUNCHER}" ${command} | head -1; exit \${PIPESTATUS[0]}`;
      const child = spawn('bash', ['--norc', '-c', words], { env: { PATH: process.env.PATH, ...env } });
      const [out, err] = await Promise.all([child.stdout.toArray(), child.stderr.toArray(), once(child, 'close')]);
      assert.match(out.join(''), /^\{.*\}\n$/);
      assert.deepEqual([child.exitCode, err.join('')], [0, '']);
    });
  }

  test('watch prints new changes, survives a restart of the server, and ends with status 0 on Ctrl-C', async () => {
    const fixed = { PORT: String(await freePort()) };
    const own = await startServer({ env: fixed });
    const token = { PLANT_STORE_TOKEN: own.secret };
    const client = createClient({ url: own.url, token: own.secret });
    await client.create({ id: 1n, name: 'before' });
    const start = (...args: string[]) =>
      spawn(process.execPath, [LAUNCHER, 'watch', ...args, '--url', own.url], {
        env: { PATH: process.env.PATH, ...token },
      });
    const [fromNow, fromStart] = [start(), start('--after', '0')];
    const lines = createInterface(fromNow.stdout)[Symbol.asyncIterator]();
    const earlier = createInterface(fromStart.stdout)[Symbol.asyncIterator]();
    assert.match(
      (await earlier.next()).value ?? '',
      /^\{"seq":1,"type":"plant.created","time":"[^"]+","plant":\{"id":1,"name":"before"\},"token":"tok_/,
    );
    fromStart.kill('SIGTERM');
    assert.equal((await once(fromStart, 'exit'))[0], 0);
    const first = lines.next();
    for (let id = 2n, isSeen = false; !isSeen; id++) {
      await client.create({ id, name: 'while it begins' });
      isSeen = await Promise.race([first.then(() => true), new Promise<false>((go) => setTimeout(go, 100, false))]);
    }
    const { seq: seen } = JSON.parse((await first).value ?? '');
    await own.stop();
    const again = await startServer({ databaseUrl: own.databaseUrl, env: fixed });
    await client.create({ id: BigInt(MAX), name: 'after' });
    let last = { seq: seen, plant: '' };
    for (let line = ''; !line.includes('"after"'); ) {
      line = (await lines.next()).value ?? '';
      assert.equal(JSON.parse(line).seq, last.seq + 1);
      last = { seq: last.seq + 1, plant: line };
    }
    assert.match(last.plant, new RegExp(`"plant":\\{"id":${MAX},"name":"after"\\}`));
    fromNow.kill('SIGINT');
    assert.deepEqual(await once(fromNow, 'exit'), [0, null]);
    await again.stop();
  });
});

test('an error on standard output is reported in one line, with status 1', {
  skip: !existsSync('/dev/full') && 'SKIPPED: needs /dev/full',
}, async () => {
  for (const command of ['list --json', 'watch --after 0', 'token list --database']) {
    const words = `exec "${process.execPath}" "${LAUNCHER}" ${command} > /dev/full`;
    const child = spawn('sh', ['-c', words], {
      env: { PATH: process.env.PATH, DATABASE_URL: server.databaseUrl, ...env },
    });
    const [err] = await Promise.all([child.stderr.toArray(), once(child, 'close')]);
    assert.match(err.join(''), /^(Using .*\n)?plant-store: Cannot write to standard output: .*ENOSPC.*\n$/, command);
    assert.equal(child.exitCode, 1);
  }
});

suite('on a terminal', needsTerminal, () => {
  test('a table on a narrow terminal omits the times and does not wrap', async () => {
    const client = createClient({ url: server.url, token: server.secret });
    await client.put(BigInt(MIN), { name: 'n'.repeat(50), tag: 'tag' });
    const lines = stripVTControlCharacters(await onScreen(['list', '--limit', '1'], {}, 40)).split('\n');
    assert.match(lines[0] ?? '', /^ID +NAME +TAG *$/);
    assert.ok(
      lines.slice(0, 2).every((line) => displayWidth(line) <= 40),
      lines.join('\n'),
    );
    await client.delete(BigInt(MIN));
  });

  const EVIL = 'Evil \u001b[2J\u009b31m\n\u202ename';
  const EVIL_SHOWN = 'Evil \\x1b[2J\\x9b31m\\n\\u{202e}name';

  test('list prints a table that fits, with wide characters, dim colours and escaped control characters', async () => {
    const client = createClient({ url: server.url, token: server.secret });
    await client.create({ id: -9n, name: '苗 ユリ 👨‍👩‍👧 e\u0301', tag: '日本' });
    await client.create({ id: -8n, name: EVIL });
    await client.create({ id: -7n, name: 'long '.repeat(50), tag: 'tag '.repeat(50) });
    await client.create({ id: -6n, name: '', tag: '' });
    const coloured = await onTerminal(['list', '--limit', '5'], env, 100);
    const plain = stripVTControlCharacters(coloured);
    const [heading = '', ...rows] = plain.split('\n');
    assert.match(heading, /^ID +NAME +TAG +UPDATED$/);
    const widths = rows.slice(0, 5).map((row) => displayWidth(row.replace(/\d{4}-\d\d-\d\d \d\d:\d\dZ$/, '')));
    assert.deepEqual(widths, Array(5).fill(heading.indexOf('UPDATED')), plain);
    assert.equal(displayWidth(rows[2] ?? ''), 100, 'long texts use the full width');
    assert.ok(rows[1]?.startsWith(`-8  ${EVIL_SHOWN} `), plain);
    assert.match(rows[2] ?? '', /^-7 {2}long .*… {2}tag .*… {2}\d/);
    assert.match(rows[3] ?? '', /^-6 {2}"" +"" +\d/);
    assert.equal(rows[5], 'More plants match. Use --all or a larger --limit.');
    const codes = coloured.split('\u001b').slice(1);
    assert.ok(codes.length > 0 && codes.every((code) => /^\[(2|22)m/.test(code)), JSON.stringify(coloured));
  });

  test('NO_COLOR and TERM=dumb turn colours off', async () => {
    for (const other of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
      const shown = await onScreen(['list', '--limit', '1'], other);
      assert.match(shown, /^ID /);
      assert.ok(!shown.includes('\u001b'));
    }
    const { stdout } = await piped(['list', '--limit', '1'], { FORCE_COLOR: '1' });
    assert.equal(JSON.parse(stdout).id, -9, 'JSON has no colours');
  });

  test('get prints every field, and --json prints JSON with escapes', async () => {
    const shown = await onScreen(['get', '-8'], { NO_COLOR: '1' });
    const [id, name, ...others] = shown.split('\n');
    assert.deepEqual([id, name], ['Id       -8', `Name     ${EVIL_SHOWN}`]);
    assert.match(others.join('\n'), /^Created {2}\d{4}-.*Z\nUpdated {2}.*Z\nVersion {2}\d+\n$/);
    assert.equal((await piped(['get', '-8', '--table'])).stdout, shown);
    const line = await onScreen(['get', '-8', '--json']);
    assert.equal(JSON.parse(line).name, EVIL);
    assert.doesNotMatch(line.trimEnd(), /[\p{Cc}\p{Cf}]/u);
  });

  test('add and rm print a confirmation', async () => {
    assert.equal(await onScreen(['add', '-3', 'x']), 'Plant -3 stored.\n');
    const removed = await onScreen(['rm', '-3', '-4']);
    assert.equal(removed, 'Plant -3 removed.\nplant-store: No plant has id -4\n');
    assert.equal(await onScreen(['list', '--tag', 'nobody']), 'No plants found.\n');
  });

  test('watch prints a heading and one change per line, and ends with status 0 on Ctrl-C', async () => {
    const words = `trap : INT; "${process.execPath}" "${LAUNCHER}" watch; echo "status $?"`;
    const client = createClient({ url: server.url, token: server.secret });
    const shown = typeInto(words, { ...env, NO_COLOR: '1' }, [['deleted', '\u0003']]);
    const every = setInterval(async () => {
      await client.put(-2n, { name: 'x', tag: 'y' });
      await client.delete(-2n).catch(() => {}); // a concurrent run has deleted it
    }, 100);
    const text = (await shown).replaceAll('\r\n', '\n');
    clearInterval(every);
    assert.match(text, /^Watching http:\/\/127.0.0.1:\d+ for changes after \d+\. Press Ctrl-C to stop\.\n/);
    assert.match(text, /^ +\d+ {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ {2}deleted {2}-2 {2}x \(y\)$/m);
    assert.match(text, /status 0\n$/);
  });
});
