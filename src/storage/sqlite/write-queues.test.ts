import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../../testing/server.ts';
import type { Token } from '../../domain/token.ts';
import { nextEventLoopTurn } from '../../lib/event-loop-turns.ts';
import { prepareDatabase } from './database.ts';
import { createImagePacker } from './import-image.ts';
import { WriteQueues } from './write-queues.ts';
import { Writer } from './writer.ts';
import type { Write } from './writes.ts';

const BY = { tokenId: 'tok_1', nowMs: 1 };

const TOKEN: Token = {
  id: 'tok_1',
  name: 'x',
  scopes: ['plants:read'],
  createdMs: 1,
  expiresMs: null,
  revokedMs: null,
  rate: { count: 100, periodMs: 1000 },
  lastUsedMs: null,
  oldSecretUntilMs: null,
};

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

test('A write takes room in the queue of all threads until it is committed or rolled back', async () => {
  const { path, lockPath, release } = prepareDatabase(join(makeFolder(), 'plants.db'), 'server');
  const writer = await Writer.start(path, lockPath, () => {});
  const [one, other] = [1, 2].map(() => new WriteQueues(writer.connect(), () => {})) as [WriteQueues, WriteQueues];
  const create = (id: bigint): Write => ({ kind: 'create', id, plant: { name: 'Ficus' }, ...BY });
  const writes = [one.write(create(1n)), one.write(create(2n)), other.write(create(3n))];
  await nextEventLoopTurn(); // both queues have sent their batches
  assert.equal(one.queued(), 3);
  await Promise.all(writes);
  assert.equal(other.queued(), 0);

  const token: Write = { kind: 'add_token', token: TOKEN, secretHash: 'hash' };
  const results = await Promise.allSettled([one.write(token), one.write(token)]); // its id is unique
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  );
  assert.equal(one.queued(), 0, 'after a rollback');

  const lost = one.write(create(4n));
  one.fail(new Error('the disk failed'));
  await assert.rejects(lost, { code: 'unavailable' });
  assert.equal(other.queued(), 0, 'after a failure');
  await other.close();
  await writer.close();
  release();
});
