// The cost of the search index per write: creates and imports with the index, and with a table in its place that
// discards everything. It runs in the writer, without HTTP, with 64 creates or 10,000 imported plants per transaction.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { NewPlant } from '../src/domain/plant.ts';
import { openConnection, prepareDatabase } from '../src/storage/sqlite/database.ts';
import { createImagePacker } from '../src/storage/sqlite/import-image.ts';
import { createVocabulary } from '../src/storage/sqlite/search-words.ts';
import { prepareWrites, type Write } from '../src/storage/sqlite/writes.ts';
import { plantAt } from './plants.ts';
import { makeBenchFolder } from './server.ts';

const CREATES = 100_000;
const IMPORTED = 500_000;
const by = { tokenId: 'tok_bench', nowMs: 1 };
const folder = makeBenchFolder();

console.log('CPU time of the writer, µs per plant (file size in MiB)\n');
console.log(`${''.padEnd(26)}${'with index'.padStart(16)}${'without'.padStart(16)}${'difference'.padStart(12)}`);
for (const [name, run] of [
  [`${CREATES.toLocaleString('en')} creates`, creates],
  [`${IMPORTED.toLocaleString('en')} imported`, imports],
] as const) {
  const [withIt, without] = [measure(run, true), measure(run, false)];
  const shown = [withIt, without].map(({ us, mib }) => `${us.toFixed(1)} (${mib.toFixed(0)})`.padStart(16));
  console.log(`${name.padEnd(26)}${shown.join('')}${(withIt.us - without.us).toFixed(1).padStart(12)}`);
}

function measure(run: (db: DatabaseSync) => number, indexed: boolean): { us: number; mib: number } {
  const path = join(folder, `${run.name}-${indexed}.db`);
  prepareDatabase(path, 'command').release();
  const db = openConnection(path);
  if (!indexed) {
    db.exec(`
      DROP TABLE words;
      CREATE VIEW words (rowid, words, text) AS SELECT 0, '', '';
      CREATE TRIGGER forget INSTEAD OF INSERT ON words BEGIN SELECT 1; END`);
  }
  db.exec(`ATTACH ':memory:' AS batch`);
  const before = process.cpuUsage();
  const plants = run(db);
  const { user, system } = process.cpuUsage(before);
  db.close();
  return { us: (user + system) / plants, mib: statSync(path).size / 1024 / 1024 };
}

function creates(db: DatabaseSync): number {
  const apply = prepareWrites(db, createVocabulary());
  for (let at = 0; at < CREATES; at += 64) {
    const batch = Array.from({ length: 64 }, (_, n): Write => toWrite(toPlant(at + n)));
    db.exec('BEGIN IMMEDIATE');
    apply(batch);
    db.exec('COMMIT');
  }
  return CREATES;
}

function toWrite(plant: NewPlant): Write {
  return { kind: 'create', id: plant.id, plant, ...by };
}

function imports(db: DatabaseSync): number {
  for (let at = 0; at < IMPORTED; at += 10_000) {
    const packer = createImagePacker();
    for (let n = 0; n < 10_000; n++) packer.add(toPlant(at + n));
    const image = packer.pack();
    db.deserialize(image.bytes, { dbName: 'batch' });
    const apply = prepareWrites(db, createVocabulary());
    db.exec('BEGIN IMMEDIATE');
    apply([{ kind: 'create_plants', image, ...by }]);
    db.exec('COMMIT');
  }
  return IMPORTED;
}

function toPlant(n: number) {
  const { id, name, tag } = plantAt(n);
  return { id: BigInt(id), name, ...(tag !== undefined && { tag }) };
}
