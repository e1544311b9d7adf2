// What others install: the client as plant-store/client, with its types, from the packed project.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder, needs, startServer } from './server.ts';

const ROOT = join(import.meta.dirname, '..');

const PROGRAM = `
import { createClient, PlantStoreError, type PlantRecord } from 'plant-store/client';

const store = createClient({ url: process.argv[2] ?? '', token: process.argv[3] ?? '' });
await store.create({ id: 9007199254740993n, name: 'Monstera deliciosa' });
const records: PlantRecord[] = [];
for await (const record of store.walk({ q: 'mon' })) records.push(record);
const id: bigint | undefined = records[0]?.id;
// @ts-expect-error an id is a bigint
const wrong: number = id;
await store.get(5n).catch((error: PlantStoreError) => console.log(wrong === 5, error instanceof PlantStoreError, error.code, id));
`;

test('the packed client runs from node_modules without any package, and brings its types', needs('tar'), async () => {
  const folder = makeFolder();
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  execFileSync('tar', ['xzf', packed.trim()], { cwd: folder });
  mkdirSync(join(folder, 'node_modules'));
  renameSync(join(folder, 'package'), join(folder, 'node_modules/plant-store'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'program.ts'), PROGRAM);
  const server = await startServer();
  const printed = execFileSync(process.execPath, ['program.ts', server.url, server.secret], {
    cwd: folder,
    encoding: 'utf8',
  });
  assert.equal(printed, 'false true not_found 9007199254740993n\n');
  await server.stop();

  for (const name of ['zod', '@types', 'undici-types'])
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name), 'dir');
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--target',
    'esnext',
    '--module',
    'nodenext',
    '--types',
    'node',
  ];
  execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options, 'program.ts'], {
    cwd: folder,
    stdio: 'inherit',
  });
});
