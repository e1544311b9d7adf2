import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { createImagePacker } from './import-image.ts';
import { WaitingBatches } from './waiting-batches.ts';
import type { WriteMessage } from './writer-messages.ts';

const { port1: port } = new MessageChannel();

/** Returns a batch of creates whose names have this length. */
function creates(count: number, nameLength = 1): WriteMessage[] {
  return Array.from({ length: count }, () => [1n, 'x'.repeat(nameLength), undefined, 'tok_1', 1]);
}

function importOf(): WriteMessage[] {
  const packer = createImagePacker();
  packer.add({ id: 1n, name: 'Ficus' });
  return [{ kind: 'create_plants', image: packer.pack(), tokenId: 'tok_1', nowMs: 1 }];
}

/** Returns the numbers of writes of the batches in each transaction. */
function transactionsOf(...batches: WriteMessage[][]): number[][] {
  const waiting = new WaitingBatches();
  for (const batch of batches) waiting.add(port, batch);
  const transactions: number[][] = [];
  while (!waiting.isEmpty) transactions.push(waiting.takeNext().map(({ writes }) => writes.length));
  return transactions;
}

test('A transaction has up to 1,000 writes', () => {
  assert.deepEqual(transactionsOf(creates(400), creates(500), creates(200), creates(100)), [[400, 500, 100], [200]]);
  assert.deepEqual(transactionsOf(creates(1000), creates(1000)), [[1000], [1000]]);
});

test('Batches share a transaction up to 4 MiB of text, and a single batch can be larger', () => {
  const longest = 64 * 1024;
  assert.deepEqual(transactionsOf(creates(40, longest), creates(30, longest), creates(24, longest)), [[40, 24], [30]]);
  assert.deepEqual(transactionsOf(creates(200, longest), creates(1)), [[200], [1]]);
});

test('An import has a transaction of its own, and other writes have their turn after it', () => {
  const [first, second] = [importOf(), importOf()];
  assert.deepEqual(transactionsOf(first, creates(2), second, creates(3)), [[2, 3], [1], [1]]);
  const waiting = new WaitingBatches();
  for (const batch of [first, second, creates(2)]) waiting.add(port, batch);
  assert.equal(waiting.takeNext()[0]?.writes.length, 2);
  waiting.add(port, creates(3));
  assert.equal(waiting.takeNext()[0]?.writes[0]?.kind, 'create_plants');
  assert.equal(waiting.takeNext()[0]?.writes.length, 3);
});
