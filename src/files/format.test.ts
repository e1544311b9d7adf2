import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FORMATS, type Format } from '../domain/names.ts';
import type { ImportError, NewPlant } from '../domain/plant.ts';
import { printPlants, readPlants } from './format.ts';

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
    fc.string({ unit: 'binary' }),
    fc.array(awkward).map((parts) => parts.join('')),
  )
  .filter((one) => one.isWellFormed() && !one.includes('\0'));
const plant: fc.Arbitrary<NewPlant> = fc
  .record({ id: fc.bigInt({ min: -(2n ** 63n), max: MAX }), name: text, tag: fc.option(text, { nil: undefined }) })
  .map(({ id, name, tag }) => (tag === undefined ? { id, name } : { id, name, tag }));

for (const format of FORMATS) {
  test(`what is printed as ${format} is read back the same, however the bytes are cut`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(plant, { maxLength: 20 }), fc.integer({ min: 1, max: 40 }), async (plants, size) => {
        const bytes = Buffer.from((await Array.fromAsync(printPlants(format, from(plants)))).join(''));
        const { plants: read, errors } = await readAll(format, bytes, size);
        assert.deepEqual(errors, []);
        assert.deepEqual(
          read.map(([, one]) => one),
          plants,
        );
      }),
      { numRuns: 300 },
    );
  });

  test(`any bytes as ${format} give plants and errors that name a line, and throw nothing else`, async () => {
    const piece = fc.oneof(
      awkward.map((one) => Buffer.from(one)),
      fc.uint8Array({ maxLength: 8 }).map(Buffer.from),
      fc.constantFrom('{"id":1,"name":"x"}\n', '1,x,\n', 'id,name,tag\n').map((one) => Buffer.from(one)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 20 }), async (pieces, size) => {
        const bytes = Buffer.concat([Buffer.from(format === 'csv' ? 'id,name,tag\n' : ''), ...pieces]);
        const lines = bytes.toString('latin1').split('\n').length;
        const whole = await readAll(format, bytes, bytes.length);
        for (const { line } of whole.errors) assert.ok(line >= 1 && line <= lines);
        assert.deepEqual(await readAll(format, bytes, size), whole, 'the cut of the bytes makes no difference');
      }),
      { numRuns: 500 },
    );
  });

  test(`a line over 1 MiB as ${format} is named, and takes no other with it`, async () => {
    const long = 'x'.repeat(1_500_000);
    const line = (id: number, name: string) =>
      format === 'csv' ? `${id},${name},\n` : `{"id":${id},"name":"${name}"}\n`;
    const head = format === 'csv' ? 'id,name,tag\n' : '';
    const { plants, errors } = await readAll(
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

test('a record as long as one can be stored is read back, and one that is longer is named', async () => {
  const full = '\u0001'.repeat(65_536);
  for (const format of FORMATS) {
    const plants = [
      { id: -(2n ** 63n), name: full, tag: full },
      { id: 1n, name: '"'.repeat(65_536) },
    ];
    const bytes = Buffer.from((await Array.fromAsync(printPlants(format, from(plants)))).join(''));
    const { plants: read, errors } = await readAll(format, bytes, 50_000);
    assert.deepEqual(errors, []);
    assert.ok(read.every(([, one], at) => one.name === plants[at]?.name && one.tag === plants[at]?.tag));
  }
  const { errors } = await readAll('ndjson', Buffer.from(`{"id":1,"name":"é${'é'.repeat(32_768)}"}`), 50_000);
  assert.deepEqual(
    errors.map(({ line, error }) => [line, error.message]),
    [[1, '"name" is over 65536 bytes']],
  );
});

test('CSV: a record that is too long, or not UTF-8, is passed over whole, and lines are counted on', async () => {
  const long = Buffer.from(`id,name\n1,"${'x'.repeat(1_100_000)}\n666,evil\n"\n2,ok\n`);
  const notUtf8 = Buffer.from('10,"a\nb\xff\nc"\nzz,bad\n', 'latin1');
  const { plants, errors } = await readAll('csv', Buffer.concat([long, notUtf8]), 2_000_000);
  assert.deepEqual(plants, [[5, { id: 2n, name: 'ok' }]]);
  assert.deepEqual(
    errors.map(({ line, error }) => [line, error.code]),
    [
      [2, 'body_too_large'],
      [6, 'not_json'],
      [9, 'not_valid'],
    ],
  );
});

test('every bad row is named with its line, and none stops the others', async () => {
  const rows = Array.from({ length: 1000 }, (_, n) => (n % 3 === 2 ? `{"id":${n}}` : `{"id":${n},"name":"x"}`));
  const { plants, errors } = await readAll('ndjson', Buffer.from(rows.join('\n')), 777);
  assert.deepEqual(
    plants.map(([line, { id }]) => [line, Number(id)]),
    rows.flatMap((_, n) => (n % 3 === 2 ? [] : [[n + 1, n]])),
  );
  assert.deepEqual(
    errors.map(({ line, error }) => [line, error.message]),
    rows.flatMap((_, n) => (n % 3 === 2 ? [[n + 1, '"name" is missing']] : [])),
  );
});

test('NDJSON: a key with escapes is read right, whatever keys were read before', async () => {
  JSON.parse('{"id":1,"name":"x","\\\\u0":2}'); // after which V8 would take the tag for that one
  const { plants } = await readAll('ndjson', Buffer.from('{"id":1,"name":"x","\\u0074ag":"t"}\n'), 100);
  assert.deepEqual(plants, [[1, { id: 1n, name: 'x', tag: 't' }]]);
});

test('NDJSON: a long array is told what it should be, too', async () => {
  const { errors } = await readAll('ndjson', Buffer.from(`[${'{"id":1,"name":"x"},'.repeat(4000)}1]\n`), 100);
  assert.match(errors[0]?.error.message ?? '', /The line is an array/);
});

test('NDJSON: an array is told what it should be', async () => {
  const { errors } = await readAll('ndjson', Buffer.from('[{"id":1,"name":"x"}]\n'), 100);
  assert.deepEqual(
    errors.map(({ line, error }) => [line, error.message]),
    [[1, 'The line is an array: write one plant a line, without the brackets']],
  );
});

test('CSV: rows keep their line numbers after cells with line feeds, and an open quotation mark costs its own line only', async () => {
  const csv = [
    'id,name,tag',
    '1,"a\nb\nc",',
    'x,bad,',
    '2,5" pot,',
    '3,"open',
    '4,fine,"t"',
    '5,"a"b,',
    '6,a,b,c',
    '7',
    '',
  ].join('\n');
  const long = Array.from({ length: 9000 }, (_, n) => `${100 + n},row,\n`).join('');
  const { plants, errors } = await readAll('csv', Buffer.from(csv + long), 5000);
  assert.deepEqual(plants.slice(0, 3), [
    [2, { id: 1n, name: 'a\nb\nc' }],
    [6, { id: 2n, name: '5" pot' }],
    [8, { id: 4n, name: 'fine', tag: 't' }],
  ]);
  assert.equal(plants.length, 3 + 9000);
  assert.deepEqual(plants.at(-1), [12 + 8999, { id: 9099n, name: 'row' }]);
  const notClosed = 'The line is not CSV: a quotation mark is not closed, or not the last of its cell';
  assert.deepEqual(
    errors.map(({ line, error }) => [line, error.message]),
    [
      [5, '"id" must be an integer'],
      [7, notClosed],
      [9, notClosed],
      [10, 'The line has 4 cells for 3 columns'],
      [11, '"name" is missing'],
    ],
  );
});

test('CSV: ids are read to the last digit, and nothing but digits is an id', async () => {
  const csv = `id,name\n${MAX},max\n-9223372036854775808,min\n9223372036854775808,over\n1.0,x\n1e3,x\n 5,x\n,x\n0x10,x\n+5,x\n007,seven\n`;
  const { plants, errors } = await readAll('csv', Buffer.from(csv), 1000);
  assert.deepEqual(
    plants.map(([, { id }]) => id),
    [MAX, -(2n ** 63n), 7n],
  );
  assert.deepEqual(
    errors.map(({ line }) => line),
    [4, 5, 6, 7, 8, 9, 10],
  );
});

test('CSV: a header row that does not name id and name once is refused', async () => {
  for (const header of ['1,x,y', 'name,tag', 'id,tag', 'id,name,name', 'id;name;tag', '"id']) {
    await assert.rejects(readAll('csv', Buffer.from(`${header}\n1,x\n`), 100), { code: 'not_valid' }, header);
  }
});

async function readAll(
  format: Format,
  bytes: Buffer,
  size: number,
): Promise<{ plants: [number, NewPlant][]; errors: ImportError[] }> {
  const plants: [number, NewPlant][] = [];
  const errors: ImportError[] = [];
  for await (const block of readPlants(format, chunked(bytes, size))) {
    for (const [at, one] of block.plants.entries()) plants.push([block.lines[at] as number, one]);
    errors.push(...block.errors);
  }
  return { plants, errors };
}

async function* chunked(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function* from<T>(values: T[]): AsyncGenerator<T> {
  yield* values;
}

test('is quick with lines that are made to be slow', async () => {
  const before = process.threadCpuUsage(); // a busy machine takes longer, but not more of it
  const crowded = await readAll('ndjson', Buffer.from(`{"id":1,"a":[${'1e1,'.repeat(200_000)}1]}`), 65_536);
  assert.match(crowded.errors[0]?.error.message ?? '', /^The line is over 65536 characters: then it may have 1000 /);
  const long = await readAll('ndjson', Buffer.from(`{"id":2,"name":"${'\\u0041'.repeat(60_000)}"}`), 65_536);
  assert.equal(long.plants[0]?.[1].name.length, 60_000);
  await readAll('csv', Buffer.from(`id,name\n${'"a",'.repeat(100_000)}`), 65_536);
  assert.ok(process.threadCpuUsage(before).user < 3000 * 1000);
});

test('CSV: a long line of very many cells is refused, and one with as many commas in a text is not', async () => {
  const commas = ','.repeat(65_536);
  const file = `id,name,tag\n1,"${commas}",""",${'x,'.repeat(2000)}"\n2,x${commas}${commas}\n3,a",${commas}${commas}\n4,y,\n`;
  const { plants, errors } = await readAll('csv', Buffer.from(file), 65_536);
  assert.deepEqual(
    plants.map(([line, { id }]) => [line, id]),
    [
      [2, 1n],
      [5, 4n],
    ],
  );
  assert.deepEqual(
    errors.map(({ line, error }) => [line, error.message]),
    [3, 4].map((line) => [line, 'The line is over 65536 characters and 1000 cells']),
  );
  await assert.rejects(readAll('csv', Buffer.from(`id,name${commas}\n1,x\n`), 65_536), /^.*over 1000 columns/);
});
