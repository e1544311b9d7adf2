import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readUndeclaredPlants } from './detect-format.ts';

for (const [name, chunks, expected] of [
  ['NDJSON', ['{"id":1,"name":"a"}\n{"id":2,"name":"b"}'], [1n, 2n]],
  ['NDJSON after blank lines', ['\n', ' \r\n', '{"id":1,"name":"a"}'], [1n]],
  ['NDJSON after a byte order mark in its own chunks', [[0xef], [0xbb], [0xbf], '{"id":1,', '"name":"a"}'], [1n]],
  ['CSV', ['id,name\n1,a\n', '2,b\n'], [1n, 2n]],
  ['CSV after a byte order mark', [[0xef, 0xbb, 0xbf], 'id,name\n1,a\n'], [1n]],
  ['CSV in single bytes', [...'id,name\n1,{a\n'], [1n]],
] as const) {
  test(`a file that declares no format is read as ${name}`, async () => {
    assert.deepEqual(await idsOf(chunks), expected);
  });
}

test('an empty file, and one that starts with 64 KiB of blanks, count as CSV', async () => {
  await assert.rejects(idsOf([]), /The file is empty/);
  await assert.rejects(idsOf([' '.repeat(70_000), '{"id":1,"name":"a"}\n']), /column "id"/);
});

async function idsOf(chunks: readonly (string | readonly number[])[]): Promise<bigint[]> {
  const ids: bigint[] = [];
  for await (const { plants } of readUndeclaredPlants(toChunks(chunks))) ids.push(...plants.map(({ id }) => id));
  return ids;
}

async function* toChunks(chunks: readonly (string | readonly number[])[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk);
}
