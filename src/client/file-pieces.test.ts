import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Format } from '../domain/names.ts';
import { readPlants } from '../files/plant-files.ts';
import { cutFile, type Piece } from './file-pieces.ts';

interface Read {
  plants: { line: number; plant: unknown }[];
  errors: { line: number; message: string }[];
  thrown?: string;
}

/** Yields the file in chunks of 64 KiB, as a socket does. */
async function* chunksOf(file: Blob): AsyncGenerator<Uint8Array> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

/** Reads a file as the server does. */
async function read(format: Format, file: Blob, linesBefore = 0): Promise<Read> {
  const all: Read = { plants: [], errors: [] };
  try {
    for await (const { plants, lines, errors } of readPlants(format, chunksOf(file))) {
      for (const [at, plant] of plants.entries()) all.plants.push({ line: linesBefore + Number(lines[at]), plant });
      for (const { line, error } of errors) all.errors.push({ line: linesBefore + line, message: error.message });
    }
  } catch (error) {
    all.thrown = (error as Error).message;
  }
  return all;
}

async function readInPieces(format: Format, file: Blob, readBytes?: number): Promise<Read & { pieces: number }> {
  const all: Read & { pieces: number } = { plants: [], errors: [], pieces: 0 };
  let bytesBefore = 0;
  for await (const { body, linesBefore, bytes } of cutFile(file, format === 'csv', readBytes)) {
    const { plants, errors, thrown } = await read(format, body, linesBefore);
    all.plants.push(...plants);
    all.errors.push(...errors);
    all.pieces++;
    assert.ok(bytes >= bytesBefore && bytes <= file.size);
    bytesBefore = bytes;
    if (thrown === undefined) continue;
    all.thrown = thrown;
    return all;
  }
  assert.equal(bytesBefore, file.size);
  return all;
}

function piecesOf(pieces: AsyncIterable<Piece>): Promise<unknown[]> {
  return Array.fromAsync(pieces, async ({ body, ...piece }) => ({ ...piece, text: await body.text() }));
}

const LINE_END = fc.constantFrom('\n', '\r\n');
const NDJSON_LINE = fc.constantFrom(
  '{"id":1,"name":"x"}',
  '',
  ' ',
  '{"id":2,"name":"é🌵"}',
  'x',
  '\ufeff{"id":3,"name":"y"}',
);
const CSV_PART = fc.constantFrom(
  '"',
  '""',
  ',',
  '\n',
  '\r\n',
  'a',
  '1',
  'é',
  '1,x\n',
  '2,"y\nz",t\n',
  '3,"""q""\r\n",\n',
);
const HEADER = fc.constantFrom('id,name,tag', 'name,"id"', '"id","name",other', 'id;name', '"id","na\nme"', 'id,name');

test('Reading a file in pieces of any size gives the same result as reading it whole', async () => {
  const ndjson = fc.tuple(fc.constantFrom('', '\ufeff'), fc.array(fc.tuple(NDJSON_LINE, LINE_END)), NDJSON_LINE);
  const csv = fc.tuple(fc.constantFrom('', '\ufeff'), HEADER, fc.constantFrom('', '\n', '\r\n'), fc.array(CSV_PART));
  const text = fc.oneof(
    fc.tuple(
      fc.constant('ndjson' as const),
      ndjson.map((parts) => parts.flat(2).join('')),
    ),
    fc.tuple(
      fc.constant('csv' as const),
      csv.map(([mark, header, end, parts]) => mark + header + end + (end && parts.join(''))),
    ),
  );
  const check = fc.asyncProperty(text, fc.integer({ min: 1, max: 60 }), async ([format, content], readBytes) => {
    const file = new Blob([content]);
    const { pieces, ...inPieces } = await readInPieces(format, file, readBytes);
    assert.deepEqual(inPieces, await read(format, file));
    const ofBlob = await piecesOf(cutFile(file, format === 'csv', readBytes));
    const bytes = new Uint8Array(await file.arrayBuffer());
    const arriving = Readable.from(Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)));
    assert.deepEqual(await piecesOf(cutFile(arriving, format === 'csv', readBytes)), ofBlob);
  });
  await fc.assert(check, { numRuns: 400 });
});

test('Overlong lines and unclosed quotation marks give the same errors in pieces as in the whole file', async () => {
  const long = 'x'.repeat(3_500_000);
  const rows = Array.from({ length: 6000 }, (_, n) => `${n},"Plant\nnumber ${n}${' '.repeat(200)}",t\n`).join('');
  const files: [Format, string][] = [
    ['ndjson', `{"id":1,"name":"a"}\n${long}\n{"id":2,"name":"b"}\nx\n`],
    ['ndjson', `{"id":1,"name":"a"}\n${long}`],
    ['csv', `id,name\n1,a\n${long}\n2,b\nx,y\n`],
    ['csv', `id,name\n1,a\n2,"${long}\n3,b\nx,y\n`],
    ['csv', `id,name,tag\n1,"a\n${rows.replaceAll('"', '')}x,y\n`],
    ['csv', `id,name,tag\n1,"a"b\n${rows}x,"y\n`],
    ['csv', `\ufeffid,name,tag\r\n${rows}${rows.replaceAll(',t\n', ',"t"x\n')}`],
  ];
  for (const [format, content] of files) {
    const file = new Blob([content]);
    const { pieces, ...inPieces } = await readInPieces(format, file);
    const whole = await read(format, file);
    assert.ok(pieces > 1, `${pieces} pieces`);
    assert.deepEqual(inPieces.errors.slice(0, 5), whole.errors.slice(0, 5));
    assert.deepEqual(
      [inPieces.plants.length, inPieces.errors.length, inPieces.plants.at(-1), inPieces.errors.at(-1)],
      [whole.plants.length, whole.errors.length, whole.plants.at(-1), whole.errors.at(-1)],
    );
    assert.deepEqual(inPieces, whole);
  }
});

test('A piece is smaller than 2.5 MiB, regardless of the content', async () => {
  const line = `{"id":1,"name":"${'x'.repeat(900_000)}"}\n`;
  const file = new Blob([line, line, 'y'.repeat(5_000_000), '\n', line]);
  for await (const { body } of cutFile(file, false)) assert.ok(body.size < 2.5 * 1024 * 1024, `${body.size} bytes`);
});
