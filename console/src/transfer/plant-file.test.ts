import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { NewPlant } from '../../../src/client/client.ts';
import { CSV_HEADER, printCsv } from '../../../src/files/csv.ts';
import { printNdjson } from '../../../src/files/ndjson.ts';
import { readPlants } from '../../../src/files/plant-files.ts';
import { toFile } from './plant-file.ts';

const TEXTS = [
  'Ficus',
  '',
  ' ',
  ' a',
  'a ',
  'a,b',
  'a"b',
  '"',
  'a\nb',
  'a\r',
  'a\r\nb',
  '=1+1',
  '🌵',
  'שקד',
  '\ufeffa',
];
const TAGS = [undefined, ...TEXTS];
const PLANTS: NewPlant[] = TEXTS.flatMap((name, row) =>
  TAGS.map((tag, at) => ({
    id: 9223372036854775807n - BigInt(row * TAGS.length + at),
    name,
    ...(tag !== undefined && { tag }),
  })),
);

describe('a file of records', () => {
  test('is the file that the server exports', async () => {
    assert.equal(await toFile(PLANTS, 'text/csv').text(), CSV_HEADER + printCsv(PLANTS));
    assert.equal(await toFile(PLANTS, 'application/x-ndjson').text(), printNdjson(PLANTS));
  });

  for (const [format, type] of [
    ['csv', 'text/csv'],
    ['ndjson', 'application/x-ndjson'],
  ] as const) {
    test(`is read again without a difference as ${format}`, async () => {
      const read: NewPlant[] = [];
      for await (const { plants, errors } of readPlants(format, toFile(PLANTS, type).stream())) {
        assert.deepEqual(errors, []);
        read.push(...plants);
      }
      assert.deepEqual(read, PLANTS);
    });
  }

  test('leaves out the times of a record', async () => {
    const record = { id: 1n, name: 'Ficus', created: '2026-11-16T00:00:00.000Z', updated: '2026-11-16T00:00:00.000Z' };
    assert.equal(await toFile([record], 'application/x-ndjson').text(), '{"id":1,"name":"Ficus"}\n');
    assert.equal(await toFile([], 'text/csv').text(), 'id,name,tag\n');
  });
});
