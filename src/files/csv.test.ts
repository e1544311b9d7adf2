import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPlantFile } from '../../testing/read-plant-file.ts';
import { readCsv } from './csv.ts';
import { MAX_RECORD_BYTES } from './csv-record-end.ts';

const MAX = 9223372036854775807n;

test('CSV: a record that is too long or not UTF-8 is skipped, and line numbers remain correct', async () => {
  const long = Buffer.from(`id,name\n1,"${'x'.repeat(1_100_000)}\n666,evil\n"\n2,ok\n`);
  const notUtf8 = Buffer.from('10,"a\nb\xff\nc"\nzz,bad\n', 'latin1');
  const { plants, errors } = await readPlantFile('csv', Buffer.concat([long, notUtf8]), 2_000_000);
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

test('CSV: line numbers are correct after line feeds in cells, and an unclosed quotation mark fails only its own line', async () => {
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
  const { plants, errors } = await readPlantFile('csv', Buffer.from(csv + long), 5000);
  assert.deepEqual(plants.slice(0, 3), [
    [2, { id: 1n, name: 'a\nb\nc' }],
    [6, { id: 2n, name: '5" pot' }],
    [8, { id: 4n, name: 'fine', tag: 't' }],
  ]);
  assert.equal(plants.length, 3 + 9000);
  assert.deepEqual(plants.at(-1), [12 + 8999, { id: 9099n, name: 'row' }]);
  const notClosed = 'The line is not CSV: a quotation mark is not closed, or text follows the closing one';
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

test('CSV: ids are exact, and an id consists of digits only', async () => {
  const csv = `id,name\n${MAX},max\n-9223372036854775808,min\n9223372036854775808,over\n1.0,x\n1e3,x\n 5,x\n,x\n0x10,x\n+5,x\n007,seven\n`;
  const { plants, errors } = await readPlantFile('csv', Buffer.from(csv), 1000);
  assert.deepEqual(
    plants.map(([, { id }]) => id),
    [MAX, -(2n ** 63n), 7n],
  );
  assert.deepEqual(
    errors.map(({ line }) => line),
    [4, 5, 6, 7, 8, 9, 10],
  );
});

test('CSV: an id that a spreadsheet rounded is named, with what to do', async () => {
  const { errors } = await readPlantFile('csv', Buffer.from('id,name\n"1,23457E+18",x\n1E+18,x\n'), 1000);
  assert.deepEqual(
    errors.map(({ error }) => error.message),
    ['1,23457E+18', '1E+18'].map(
      (id) => `"id" must be an integer, not ${id}. A spreadsheet rounded it: save that column as text`,
    ),
  );
});

test('CSV: a header row with another delimiter names what converts the file', async () => {
  await assert.rejects(readPlantFile('csv', Buffer.from('id;name;tag\n1;x;\n'), 100), {
    message:
      'The first line is separated by ";". Save the file with commas, or import it with the command or the console, which convert it. The first line must name the columns, such as "id,name,tag".',
  });
});

test('CSV: a header row without exactly one id and one name is rejected', async () => {
  for (const header of ['1,x,y', 'name,tag', 'id,tag', 'id,name,name', 'id;name;tag', '"id']) {
    await assert.rejects(readPlantFile('csv', Buffer.from(`${header}\n1,x\n`), 100), { code: 'not_valid' }, header);
  }
});

test('CSV: a long line of very many cells is rejected, but not one with as many commas in a text', async () => {
  const commas = ','.repeat(65_536);
  const file = `id,name,tag\n1,"${commas}",""",${'x,'.repeat(2000)}"\n2,x${commas}${commas}\n3,a",${commas}${commas}\n4,y,\n`;
  const { plants, errors } = await readPlantFile('csv', Buffer.from(file), 65_536);
  assert.deepEqual(
    plants.map(([line, { id }]) => [line, id]),
    [
      [2, 1n],
      [5, 4n],
    ],
  );
  assert.deepEqual(
    errors.map(({ line, error }) => [line, error.message]),
    [3, 4].map((line) => [line, 'The line has more than 32768 characters and more than 1000 cells']),
  );
  await assert.rejects(readPlantFile('csv', Buffer.from(`id,name${commas}\n1,x\n`), 65_536), /^.*over 1000 columns/);
});

for (const [title, header] of [
  ['too long', Buffer.from(`id,name,${'x'.repeat(MAX_RECORD_BYTES)}`)],
  ['not UTF-8', Buffer.from([0x69, 0x64, 0xff])],
  ['without the end of its quotation', Buffer.from('id,"name')],
] as const) {
  test(`CSV: a first line that is ${title} is an error, and the next line is not taken for it`, async () => {
    const file = async function* () {
      yield Buffer.concat([header, Buffer.from(`\nid,name\n1,a\n${'x\n'.repeat(40)}`)]);
    };
    await assert.rejects(
      Array.fromAsync(readCsv(file())),
      /The first line must name the columns, such as "id,name,tag"\. The line is /,
    );
  });
}
