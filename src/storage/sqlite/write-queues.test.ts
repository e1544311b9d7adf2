import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../../testing/server.ts';
import { prepareDatabase } from './database.ts';
import { createImagePacker } from './import-image.ts';
import { WriteQueues } from './write-queues.ts';
import { Writer } from './writer.ts';
import type { Write } from './writes.ts';

const BY = { tokenId: 'tok_1', nowMs: 1 };

function importOf(plants: number, firstId: number): Write {
  const packer = createImagePacker();
  for (let n = 0; n < plants; n++) packer.add({ id: BigInt(firstId + n), name: 'Acer palmatum' });
  return { kind: 'create_plants', image: packer.pack(), ...BY };
}

test('A create waits for one import in progress, and not for those that are queued in any thread', async () => {
  const { path, lockPath, release } = prepareDatabase(join(makeFolder(), 'plants.db'), 'server');
  const writer = await Writer.start(path, lockPath, () => {});
  const [one, other] = [1, 2].map(() => new WriteQueues(writer.connect(), assert.ifError)) as [
    WriteQueues,
    WriteQueues,
  ];
  const committed: string[] = [];
  const note = (name: string) => () => void committed.push(name);
  const files = Array.from({ length: 6 }, (_, n) => importOf(5000, n * 5000));
  const imports = files.map((file, n) => (n % 2 === 0 ? one : other).write(file).then(note('import')));
  const created = one.write({ kind: 'create', id: -1n, plant: { name: 'Ficus' }, ...BY }).then(note('create'));
  await Promise.all([...imports, created]);
  assert.ok(committed.indexOf('create') <= 1, committed.join(', '));
  await Promise.all([one.close(), other.close()]);
  await writer.close();
  release();
});
