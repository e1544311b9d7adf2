import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { codePoints } from '../../testing/code-points.ts';
import { readPlantFile } from '../../testing/read-plant-file.ts';
import { quickEnough } from '../../testing/until.ts';
import { FORMATS } from '../domain/names.ts';
import type { NewPlant } from '../domain/plant.ts';
import { paced } from '../lib/event-loop-turns.ts';
import { printPlants, readPlants, readUndeclaredPlants } from './plant-files.ts';

const MAX = 9223372036854775807n;
const awkward = fc.constantFrom(
  '=1+1',
  '+x',
  '-x',
  '@x',
  '"',
  '""',
  ',',
  '\n',
  '\r\n',
  '\r',
  ' x ',
  '',
  "'",
  '\t',
  '\ufeff',
  '\u2028',
  'é',
  '🌵',
  '\\',
  '\\n',
  'null',
  '5.5',
  '12345678901234567890',
);
const text = fc
  .oneof(
    awkward,
    fc.string({ unit: codePoints }),
    fc.array(awkward).map((parts) => parts.join('')),
  )
  .filter((one) => one.isWellFormed() && !one.includes('\0'));
const plant: fc.Arbitrary<NewPlant> = fc
  .record({ id: fc.bigInt({ min: -(2n ** 63n), max: MAX }), name: text, tag: fc.option(text, { nil: undefined }) })
  .map(({ id, name, tag }) => (tag === undefined ? { id, name } : { id, name, tag }));

for (const format of FORMATS) {
  test(`Plants printed as ${format} are read back unchanged, for any chunk boundaries`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(plant, { maxLength: 20 }), fc.integer({ min: 1, max: 40 }), async (plants, size) => {
        const bytes = Buffer.from((await Array.fromAsync(printPlants(format, from(plants)))).join(''));
        const { plants: read, errors } = await readPlantFile(format, bytes, size);
        assert.deepEqual(errors, []);
        assert.deepEqual(
          read.map(([, one]) => one),
          plants,
        );
      }),
      { numRuns: 300 },
    );
  });

  test(`Any bytes as ${format} give plants and errors with a line number, and nothing else is thrown`, async () => {
    const piece = fc.oneof(
      awkward.map((one) => Buffer.from(one)),
      fc.uint8Array({ maxLength: 8 }).map(Buffer.from),
      fc.constantFrom('{"id":1,"name":"x"}\n', '1,x,\n', 'id,name,tag\n').map((one) => Buffer.from(one)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 20 }), async (pieces, size) => {
        const bytes = Buffer.concat([Buffer.from(format === 'csv' ? 'id,name,tag\n' : ''), ...pieces]);
        const lines = bytes.toString('latin1').split('\n').length;
        const whole = await readPlantFile(format, bytes, bytes.length);
        for (const { line } of whole.errors) assert.ok(line >= 1 && line <= lines);
        assert.deepEqual(await readPlantFile(format, bytes, size), whole, 'chunk boundaries make no difference');
      }),
      { numRuns: 500 },
    );
  });

  test(`A line over 1 MiB as ${format} is reported, and the other lines are read`, async () => {
    const long = 'x'.repeat(1_500_000);
    const line = (id: number, name: string) =>
      format === 'csv' ? `${id},${name},\n` : `{"id":${id},"name":"${name}"}\n`;
    const head = format === 'csv' ? 'id,name,tag\n' : '';
    const { plants, errors } = await readPlantFile(
      format,
      Buffer.from(head + line(1, 'a') + line(2, long) + line(3, 'b') + line(4, long).slice(0, -1)),
      1000,
    );
    assert.deepEqual(
      plants.map(([, { id }]) => id),
      [1n, 3n],
    );
    const first = format === 'csv' ? 3 : 2;
    assert.deepEqual(
      errors.map((error) => [error.line, error.error.code]),
      [
        [first, 'body_too_large'],
        [first + 2, 'body_too_large'],
      ],
    );
  });
}

test('A record of the maximum length is read back, and a longer one is reported', async () => {
  const full = '\u0001'.repeat(65_536);
  for (const format of FORMATS) {
    const plants = [
      { id: -(2n ** 63n), name: full, tag: full },
      { id: 1n, name: '"'.repeat(65_536) },
    ];
    const bytes = Buffer.from((await Array.fromAsync(printPlants(format, from(plants)))).join(''));
    const { plants: read, errors } = await readPlantFile(format, bytes, 50_000);
    assert.deepEqual(errors, []);
    assert.ok(read.every(([, one], at) => one.name === plants[at]?.name && one.tag === plants[at]?.tag));
  }
  const { errors } = await readPlantFile('ndjson', Buffer.from(`{"id":1,"name":"é${'é'.repeat(32_768)}"}`), 50_000);
  assert.deepEqual(
    errors.map(({ line, error }) => [line, error.message]),
    [[1, '"name" is over 65536 bytes']],
  );
});

test('Lines that are designed to be slow are read quickly', async () => {
  const before = process.threadCpuUsage(); // CPU time, which does not grow on a busy machine
  const crowded = await readPlantFile('ndjson', Buffer.from(`{"id":1,"a":[${'1e1,'.repeat(200_000)}1]}`), 65_536);
  assert.match(crowded.errors[0]?.error.message ?? '', /^A line over 32768 characters can have at most 1000 /);
  const long = await readPlantFile('ndjson', Buffer.from(`{"id":2,"name":"${'\\u0041'.repeat(60_000)}"}`), 65_536);
  assert.equal(long.plants[0]?.[1].name.length, 60_000);
  await readPlantFile('csv', Buffer.from(`id,name\n${'"a",'.repeat(100_000)}`), 65_536);
  assert.ok(process.threadCpuUsage(before).user < 3000 * 1000);
});

for (const [content, start, part] of [
  ['quotation marks', '', '"'],
  ['an open quotation mark and lines of very many cells', '1,"x\n', `${','.repeat(30_000)}\n`],
  ['an open quotation mark and lines of many cells', '1,"x\n', `${','.repeat(900)}\n`],
] as const) {
  test(`a CSV file of ${content} lets other work run`, async () => {
    const file = Buffer.from(`id,name,tag\n${start}${part.repeat(2 ** 20 / part.length)}`);
    await quickEnough(120, async () => {
      let [longestMs, before] = [0, process.threadCpuUsage()];
      const turn = () => {
        longestMs = Math.max(longestMs, process.threadCpuUsage(before).user / 1000);
        before = process.threadCpuUsage();
        immediate = setImmediate(turn);
      };
      let immediate = setImmediate(turn);
      for await (const _ of paced(readPlants('csv', inPieces(file)))); // CPU time, which does not grow on a busy machine
      clearImmediate(immediate);
      return longestMs;
    });
  });
}

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
  await assert.rejects(idsOf([' '.repeat(70_000), '{"id":1,"name":"a"}\n']), /must name the columns.*not closed/);
});

async function idsOf(chunks: readonly (string | readonly number[])[]): Promise<bigint[]> {
  const ids: bigint[] = [];
  for await (const { plants } of readUndeclaredPlants(toChunks(chunks))) ids.push(...plants.map(({ id }) => id));
  return ids;
}

async function* toChunks(chunks: readonly (string | readonly number[])[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk);
}

async function* from<T>(values: T[]): AsyncGenerator<T> {
  yield* values;
}

async function* inPieces(file: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.length; at += 65_536) yield file.subarray(at, at + 65_536);
}
