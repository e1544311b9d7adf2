// Tests of import --dry-run, on both databases and through a server: it reports what an import then does.

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { DATABASES } from '../../testing/both-databases.ts';
import { type InProcessOptions, type Run, runInProcess } from '../../testing/command-line.ts';
import { makeFolder, makeStoreFolder } from '../../testing/server.ts';
import { startTestService } from '../../testing/service.ts';

/** More than one request of the client and more than one block of the file, with an id that occurs in both. */
const MANY = Array.from({ length: 12_000 }, (_, n) => `{"id":${n + 10},"name":"Plant ${'x'.repeat(100)}"}\n`).join('');
const FILE = `{"id":1,"name":"stored"}\n{"id":5,"name":"first"}\n${MANY}{"id":5,"name":"second"}\nnope\n`;
const COUNTS = { created: 12_001, replayed: 1, failed: 2 };
const ERRORS = /^Line 12003: Id 5 belongs to another plant.*\nLine 12004: .*\n$/;

for (const [title, databaseOf, needs] of DATABASES) {
  suite(`import --dry-run, on ${title}`, needs, () => {
    for (const through of ['the database', 'a server']) {
      test(`through ${through}, reports what an import does, and stores nothing`, async () => {
        const databaseUrl = await databaseOf();
        const service = await startTestService({ ...(databaseUrl && { databaseUrl }) });
        await service.store.create({ id: 1n, name: 'stored' }, { tokenId: 'cli' });
        const env = { DATABASE_URL: service.databaseUrl, PLANT_STORE_TOKEN: service.secret };
        const where = through === 'a server' ? ['--url', service.url] : [];
        const file = join(makeFolder(), 'in.ndjson');
        writeFileSync(file, FILE);
        for (const [name, options] of [
          [file, {}],
          ['-', { input: [FILE.slice(0, 50), FILE.slice(50)] }],
        ] as [string, InProcessOptions][]) {
          const dry = await runInProcess(['import', name, '--dry-run', ...where], { env, ...options });
          assert.deepEqual([dry.status, JSON.parse(dry.stdout)], [1, COUNTS]);
          assert.match(dry.stderr, ERRORS);
          assert.deepEqual(await service.store.count(), { plants: 1, isMore: false });
          assert.equal(await service.store.lastSeq(), 1);
        }
        assert.deepEqual(JSON.parse((await runInProcess(['import', file, ...where], { env })).stdout), COUNTS);
        await service.stop();
      });
    }
  });
}

function run(folder: string, args: string[], options: InProcessOptions = {}): Promise<Run> {
  return runInProcess(args, { env: { DATABASE_URL: `sqlite:${folder}/plants.db` }, ...options });
}

test('a dry run creates no store', async () => {
  const folder = makeFolder();
  const { status, stderr } = await run(folder, ['import', '-', '--dry-run'], { input: [FILE] });
  assert.equal(status, 1);
  assert.match(stderr, /^plant-store: No database at .*plants\.db/m);
  assert.deepEqual(readdirSync(folder), []);
});

test('a dry run says on a terminal that nothing was stored', async () => {
  const folder = await makeStoreFolder();
  await run(folder, ['import', '-'], { input: ['{"id":1,"name":"stored"}\n'] });
  const shown = await run(folder, ['import', '-', '--dry-run'], {
    input: ['{"id":2,"name":"x"}\nnope\n'],
    columns: 99,
  });
  assert.equal(shown.stdout, '1 plant would be imported, 0 already stored, 1 line would fail. Nothing was stored.\n');
  assert.match(shown.stderr, /Checking 0 plants/);
});

test('a dry run on a server lists the first 1,000 failed lines and counts the others', async () => {
  const service = await startTestService();
  const env = { PLANT_STORE_TOKEN: service.secret };
  const args = ['import', '-', '--format', 'csv', '--dry-run', '--url', service.url];
  const { status, stdout, stderr } = await runInProcess(args, { env, input: [`id,name\n${'x,y\n'.repeat(1234)}`] });
  assert.deepEqual([status, JSON.parse(stdout)], [1, { created: 0, replayed: 0, failed: 1234 }]);
  const lines = stderr.trimEnd().split('\n');
  assert.deepEqual([lines.length, lines.at(-1)], [1001, '234 more lines failed']);
  await service.stop();
});

test('an interrupted dry run says that nothing was stored, and leaves no temporary file', async () => {
  const service = await startTestService();
  const signals = new EventEmitter();
  async function* input() {
    yield '{"id":1,"name":"x"}\n';
    signals.emit('SIGINT');
    yield '{"id":2,"name":"x"}\n';
  }
  const copies = () => readdirSync(tmpdir()).filter((name) => name.startsWith('plant-store-import-'));
  const before = copies();
  const args = ['import', '-', '--dry-run', '--url', service.url];
  const env = { PLANT_STORE_TOKEN: service.secret };
  const { status, stderr } = await runInProcess(args, { env, input: input(), signals });
  assert.equal(status, 130);
  assert.equal(stderr, 'Interrupted. Nothing was stored.\n');
  assert.deepEqual(copies(), before);
  await service.stop();
});
