import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { splitCells } from '../../../src/files/csv-cells.ts';
import { columnsOf, withColumns } from './columns.ts';
import { failedLinesFile } from './failed-lines.ts';
import { findRecords, readHead } from './file-records.ts';

const MIB = 1024 * 1024;

describe('the records of a file', () => {
  test('have the line numbers that the server reports', async () => {
    const file = new Blob(['\ufeffid,name,tag\r\n1,"Two\nlines",a\r\n\n2,"not closed,b\n3,Last,c']);
    const head = await readHead(file, 'some.csv');
    assert.deepEqual(head.header, { text: 'id,name,tag', end: 15, lines: 1 });
    assert.deepEqual(head.records, [
      { line: 2, text: '1,"Two\nlines",a' },
      { line: 5, text: '2,"not closed,b' },
      { line: 6, text: '3,Last,c' },
    ]);
    assert.equal(head.bytes, file.size);
    assert.deepEqual(await findRecords(file, head.type, [5, 2]), [head.records[0], head.records[1]]);
  });

  test('are found in every piece of a large file', async () => {
    const row = (n: number) => `${n},"Name\n${n}",${'x'.repeat(1000)}`;
    const rows = Array.from({ length: 3000 }, (_, n) => row(n));
    const file = new Blob([`id,name,tag\n${rows.join('\n')}\n`]);
    assert.ok(file.size > 2 * MIB);
    const head = await readHead(file, 'large.csv');
    assert.equal(head.records.length, 1000);
    assert.equal(await file.slice(0, head.bytes).text(), `id,name,tag\n${rows.slice(0, 1000).join('\n')}\n`);
    const wanted = [0, 1, 999, 1500, 2999].map((n) => ({ line: 2 + 2 * n, text: row(n) }));
    assert.deepEqual(
      await findRecords(
        file,
        'text/csv',
        wanted.map(({ line }) => line),
      ),
      wanted,
    );
  });

  test('tell the format of the file, whatever its name says', async () => {
    const typeOf = async (text: string, name: string) => (await readHead(new Blob([text]), name)).type;
    assert.equal(await typeOf('{"id":1,"name":"a"}\n', 'plants.txt'), 'application/x-ndjson');
    assert.equal(await typeOf('{"id":1,"name":"a, \\"b"}\n{"id":2}', 'plants.csv'), 'application/x-ndjson');
    assert.equal(await typeOf('oops', 'plants.JSONL'), 'application/x-ndjson');
    assert.equal(await typeOf('id,name\n', 'plants'), 'text/csv');
    await assert.rejects(readHead(new Blob([' \n']), 'a.csv'), /empty/);
    await assert.rejects(readHead(new Blob(['PK\x03\x04\0\0']), 'a.xlsx'), /not a text file/);
  });
});

test('cells are split as in CSV', () => {
  const texts = (record: string) => splitCells(record).map(({ text }) => text);
  assert.deepEqual(texts('1,a,'), ['1', 'a', '']);
  assert.deepEqual(texts('1,"a, ""b""\nc","",x"y'), ['1', 'a, "b"\nc', '', 'x"y']);
  assert.deepEqual(texts('1,"not closed, at all'), ['1', '"not closed, at all']);
  assert.deepEqual(texts(''), ['']);
});

describe('the columns of a file', () => {
  test('are known by their names, the first of equal ones', async () => {
    const head = await readHead(new Blob(['NAME, Id ,pot,name\n']), 'a.csv');
    assert.deepEqual(columnsOf(head), ['name', 'id', undefined, undefined]);
  });

  test('can be chosen, and lines keep their numbers', async () => {
    const file = new Blob(['"plant\nnumber",title,tag\n1,Ficus,tree\n']);
    const head = await readHead(file, 'a.csv');
    assert.equal(withColumns(file, head, columnsOf(head)), file);
    const text = await withColumns(file, head, ['id', 'name', undefined]).text();
    assert.equal(text, '"id\n",name,unused 3\n1,Ficus,tree\n');
  });
});

test('the file of refused lines has the header row and the lines as they were', async () => {
  const file = new Blob(['id,name\r\n1,"a\nb"\r\nx,"c"\r\n']);
  const head = await readHead(file, 'a.csv');
  const records = await findRecords(file, head.type, [2, 4]);
  assert.equal(await failedLinesFile(records, head, head.type).text(), 'id,name\n1,"a\nb"\nx,"c"\n');
  const lines = new Blob(['{"id":1}\n']);
  const ndjson = await readHead(lines, 'a.ndjson');
  assert.equal(await failedLinesFile(ndjson.records, ndjson, ndjson.type).text(), '{"id":1}\n');
});
