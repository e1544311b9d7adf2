import assert from 'node:assert/strict';
import { test } from 'node:test';
import { columnsOf, withColumns } from './columns.ts';
import { failedLinesFile } from './failed-lines.ts';
import { findRecords, readHead } from './file-records.ts';
import { toPlainFile } from './plain-file.ts';

test('a plain file and NDJSON are not copied', async () => {
  const csv = new Blob(['id,name\n1,Été\n']);
  assert.deepEqual(await toPlainFile(csv, 'a.csv'), { file: csv, dialect: { delimiter: ',', encoding: 'utf-8' } });
  assert.equal((await toPlainFile(csv, 'a.csv')).file, csv);
  for (const [text, name] of [
    [' {"id":1,"name":"a;b"}\n', 'a.txt'],
    ['oops;oops', 'a.jsonl'],
  ] as const) {
    const file = new Blob([text]);
    const plain = await toPlainFile(file, name);
    assert.equal(plain.file, file);
    assert.equal(plain.dialect, undefined);
  }
});

test('the preview, the columns and the refused lines of a converted file have the line numbers of the original', async () => {
  const source = new Blob([Buffer.from('sep=;\r\nNr;Name\r\n1;Süß, rot\r\nx;"a\n;b"\r\n3;"open\r\n', 'latin1')]);
  const { file, dialect } = await toPlainFile(source, 'a.csv');
  assert.deepEqual(dialect, { delimiter: ';', encoding: 'windows-1252' });
  const head = await readHead(file, 'a.csv');
  assert.deepEqual(head.records, [
    { line: 3, text: '1,"Süß, rot"' },
    { line: 4, text: 'x,"a\n;b"' },
    { line: 6, text: '3,"open" (not closed)' },
  ]);
  assert.deepEqual(columnsOf(head), [undefined, 'name']);
  assert.match(await withColumns(file, head, ['id', 'name']).text(), /^"id\n",name\n1,"Süß, rot"\r\n/);
  const records = await findRecords(file, head.type, [4, 6]);
  const refused = await failedLinesFile(records, head, head.type).text();
  assert.equal(refused, '"Nr",Name\nx,"a\n;b"\n3,"open" (not closed)\n');
});

test('an encoding that shows at the end of a large file is recognised, and a choice overrides it', async () => {
  const source = new Blob([`id,name\n${'1,Plant\n'.repeat(400_000)}2,`, Buffer.of(0xf6), '\n']);
  const { file, dialect } = await toPlainFile(source, 'a.csv');
  assert.deepEqual(dialect, { delimiter: ',', encoding: 'windows-1252' });
  assert.equal(await file.slice(-5).text(), '2,ö\n');
  assert.equal((await toPlainFile(source, 'a.csv', { encoding: 'utf-8' })).file, source);
  const other = await toPlainFile(source, 'a.csv', { encoding: 'windows-1251' });
  assert.equal(await other.file.slice(-5).text(), '2,ц\n');
});
