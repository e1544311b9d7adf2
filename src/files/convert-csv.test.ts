import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { codePoints } from '../../testing/code-points.ts';
import { readPlantFile } from '../../testing/read-plant-file.ts';
import type { NewPlant } from '../domain/plant.ts';
import { type CsvChoice, convertCsv } from './convert-csv.ts';
import { describeDialect } from './csv-dialect.ts';

const GERMAN =
  'id;name;tag\r\n1;Gänseblümchen;Wiese, feucht\r\n2;"Rose ""Frühling""; rot";\r\n3;Weiß – Straße €;""\r\n';
const GERMAN_PLANTS = [
  [2, { id: 1n, name: 'Gänseblümchen', tag: 'Wiese, feucht' }],
  [3, { id: 2n, name: 'Rose "Frühling"; rot' }],
  [4, { id: 3n, name: 'Weiß – Straße €', tag: '' }],
];
const MARK = '\ufeff';

describe('CSV files of spreadsheets', () => {
  for (const [name, bytes, words] of [
    ['Excel, CSV in Germany', windows1252(GERMAN), 'CSV with semicolons in Windows-1252'],
    ['Excel, CSV UTF-8 in Germany', utf8(MARK + GERMAN), 'CSV with semicolons'],
    ['Excel, Unicode text', utf16(MARK + withTabs(GERMAN)), 'CSV with tabs in UTF-16LE'],
    ['UTF-16 with the other byte order', utf16(MARK + withTabs(GERMAN)).swap16(), 'CSV with tabs in UTF-16BE'],
    ['LibreOffice with tabs', utf8(withTabs(GERMAN)), 'CSV with tabs'],
  ] as const) {
    test(`are recognised and read: ${name}`, async () => {
      for (const size of [1, 3, 1000]) {
        const { plants, errors, recognised } = await read(bytes, {}, size);
        assert.deepEqual(errors, []);
        assert.deepEqual(plants, GERMAN_PLANTS);
        assert.deepEqual(recognised, [words]);
      }
    });
  }

  for (const [name, text, words] of [
    ['a line sep=', 'sep=;\r\nid;name\r\n1;a,b\r\nx;y\r\n', 'CSV with semicolons'],
    ['a line sep= with commas', 'sep=,\nid,name\n1,"a,b"\nx,y\n', 'CSV with commas'],
    ['a quoted line sep= and quoted names', '"SEP=|"\n"id"|"name"\n1|a,b\nx|y', 'CSV with "|"'],
    ['a line sep= after a byte order mark', `${MARK}sep=\t\nid\tname\n1\ta,b\nx\ty`, 'CSV with tabs'],
  ] as const) {
    test(`${name} names the delimiter, and line numbers stay those of the file`, async () => {
      const { plants, errors, recognised } = await read(utf8(text));
      assert.deepEqual(plants, [[3, { id: 1n, name: 'a,b' }]]);
      assert.deepEqual(errors, [[4, '"id" must be an integer']]);
      assert.deepEqual(recognised, [words]);
    });
  }

  for (const [name, text, delimiter] of [
    ['the one that gives the columns id and name', 'a;b;c;d,ID , name\n', ','],
    ['also when the names are quoted', '"id";"name";"tag, comma, and, more"\n', ';'],
    ['also when a name has line ends', '"first\nname";id;Name\n', ';'],
    ['or else the one that gives the most columns', 'Nr;Pflanze, deutsch;Gruppe\n', ';'],
    ['or a comma', 'Nr;a,Pflanze\n', ','],
  ] as const) {
    test(`the header row tells the delimiter: ${name}`, async () => {
      const { recognised } = await convert(utf8(text));
      const names = delimiter === ',' ? [] : ['CSV with semicolons'];
      assert.deepEqual(recognised, names);
    });
  }

  for (const [name, bytes] of [
    ['in UTF-8', utf8('id,name\r\n1,"Été; ""x""\n"\r\n2,"open\n3,a\tb')],
    ['in UTF-8 with a byte order mark', utf8(`${MARK}id,name\n1,Été\n`)],
    ['with one line that is not UTF-8', Buffer.concat([utf8('id,name\n1,Été\n2,'), Buffer.of(0xe9), utf8('\n3,x')])],
    ['with the character U+FFFD', utf8('id,name\n1,\ufffd\n')],
    ['without a byte', utf8('')],
  ] as const) {
    test(`a file with commas passes unchanged: ${name}`, async () => {
      for (const size of [1, 1000]) {
        const { converted, recognised } = await convert(bytes, {}, size);
        assert.ok(converted.equals(bytes), converted.toString());
        assert.deepEqual(recognised, []);
      }
    });
  }
});

describe('an encoding that shows late', () => {
  const ascii = Array.from({ length: 10_000 }, (_, n) => `${n};Plant number ${n}\n`).join('');

  test('is recognised there, and the rows before it are the same', async () => {
    const file = windows1252(`id;name\n${ascii}10000;Weißdorn\n${ascii.replaceAll(';Plant', ';Grün')}`);
    const { plants, errors, recognised } = await read(file);
    assert.deepEqual(recognised, ['CSV with semicolons', 'CSV with semicolons in Windows-1252']);
    assert.deepEqual(errors, []);
    assert.deepEqual(plants[10_000], [10_002, { id: 10_000n, name: 'Weißdorn' }]);
    assert.deepEqual(plants.at(-1), [20_002, { id: 9999n, name: 'Grün number 9999' }]);
  });

  test('does not change a UTF-8 file: its bad lines are still reported', async () => {
    const bad = Buffer.concat([utf8('7;sch'), Buffer.of(0xf6), utf8('n\n')]);
    const good = utf8('8;schöne Grüße\n');
    for (const parts of [
      [bad, good, good],
      [good, bad, utf8(ascii), bad],
      [utf8(ascii), good, utf8(ascii), bad],
    ]) {
      const { errors, recognised } = await read(Buffer.concat([utf8('id;name\n'), ...parts]));
      const before = (at: number) => Buffer.concat(parts.slice(0, at)).filter((byte) => byte === 0x0a).length;
      const lines = parts.flatMap((part, at) => (part === bad ? [before(at) + 2] : []));
      assert.deepEqual(
        errors,
        lines.map((line) => [line, 'The line is not UTF-8. Save the file as UTF-8.']),
      );
      assert.deepEqual(recognised, ['CSV with semicolons']);
    }
  });

  test('is not taken from a file that is cut off within a character', async () => {
    const file = utf8('id;name\n1;Rosa\n2;Blüte');
    const cut = file.subarray(0, file.indexOf(0xc3) + 1);
    const { plants, errors, recognised } = await read(cut);
    assert.deepEqual(plants, [[2, { id: 1n, name: 'Rosa' }]]);
    assert.deepEqual(errors, [[3, 'The line is not UTF-8. Save the file as UTF-8.']]);
    assert.deepEqual(recognised, ['CSV with semicolons']);
    assert.equal((await read(windows1252('id;name\n1;Möhre\n2;Pensé'))).plants[1]?.[1].name, 'Pensé');
  });

  test('fails if the lines after it show that the file is UTF-8', async () => {
    const file = Buffer.concat([utf8(`id;name\n1;Rosa\n2;M`), Buffer.of(0xc3), utf8(`(n\n${ascii}3;Röschen\n`)]);
    await assert.rejects(read(file), {
      name: 'UserError',
      message: /^Line 3 is not UTF-8, so it was read as Windows-1252, but lines after it are UTF-8\. /,
    });
    const { errors } = await read(file, { encoding: 'utf-8' });
    assert.deepEqual(
      errors.map(([line]) => line),
      [3],
    );
  });

  test('leaves no doubt unreported: a line with a byte that the encoding lacks, or one that is also UTF-8', async () => {
    const file = windows1252('id,name\n1,Süß\n2,Größe\n3,Schneeweiß®\n4,Ofen\n5,\x81\n6,Müll\n');
    const { plants, errors, recognised } = await read(file);
    assert.deepEqual(recognised, ['CSV with commas in Windows-1252']);
    assert.deepEqual(
      plants.map(([line]) => line),
      [2, 3, 5, 7],
    );
    assert.deepEqual(
      errors.map(([line]) => line),
      [4, 6],
    );
    const sure = await read(file, { encoding: 'windows-1252' });
    assert.deepEqual(sure.plants[2], [4, { id: 3n, name: 'Schneeweiß®' }]);
    assert.deepEqual(
      sure.errors.map(([line]) => line),
      [6],
    );
  });
});

test('a choice overrides what would be recognised', async () => {
  const { plants, recognised } = await read(utf8('sep=;\nid|name\n1|a;b\n'), { delimiter: '|' });
  assert.deepEqual(plants, [[3, { id: 1n, name: 'a;b' }]]);
  assert.deepEqual(recognised, ['CSV with "|"']);
  const polish = await read(Buffer.from([...utf8('id,name\n1,'), 0x9f, 0xf3, 0xb3, 0x0a]), {
    encoding: 'windows-1250',
  });
  assert.deepEqual(polish.plants, [[2, { id: 1n, name: 'źół' }]]);
  assert.deepEqual(polish.recognised, ['CSV with commas in Windows-1250']);
  const { errors } = await read(Buffer.from('id,name\n1,\xe9\n', 'latin1'), { encoding: 'utf-8' });
  assert.deepEqual(errors, [[2, 'The line is not UTF-8. Save the file as UTF-8.']]);
  const cut = await read(utf16('id,name\n1,a\ud800b\n2,b\n'), { encoding: 'utf-16le' });
  assert.deepEqual(cut.errors, [[2, 'The line is not UTF-8. Save the file as UTF-8.']]);
  assert.equal(cut.plants.length, 1);
});

test('a malformed line fails alone, as in a file with commas', async () => {
  const rows = ['a;"b', '5;"a"b;', '6;",x";"', '7;"two\nlines";t', '8;5" pot, small;', '9;"open', '10;a;b;c', '11;"x"'];
  const file = `id;name;tag\n1;ok;\n${rows.join('\n')}\n12;fine;"t"\n13;"open`;
  const { plants, errors } = await read(utf8(file));
  assert.deepEqual(
    plants.map(([line, { id, name }]) => [line, id, name]),
    [
      [2, 1n, 'ok'],
      [6, 7n, 'two\nlines'],
      [8, 8n, '5" pot, small'],
      [11, 11n, 'x'],
      [12, 12n, 'fine'],
    ],
  );
  assert.deepEqual(
    errors.map(([line]) => line),
    [3, 4, 5, 9, 10, 13],
  );
  assert.equal(errors[4]?.[1], 'The line has 4 cells for 3 columns');
  for (const size of [1, 7]) assert.deepEqual((await read(utf8(file), {}, size)).errors, errors);
});

test('a line over 1 MiB is rejected, and the others are read', async () => {
  const long = 'x;'.repeat(600_000);
  const { plants, errors } = await read(utf8(`id;name\n1;a\n2;${long}\n3;b\n4;"${long}`), {}, 50_000);
  assert.deepEqual(
    plants.map(([line]) => line),
    [2, 4],
  );
  assert.deepEqual(
    errors.map(([line]) => line),
    [3, 5],
  );
});

test('lines that are designed to be slow are converted quickly', async () => {
  const before = process.threadCpuUsage();
  for (const line of [',\n', '"\n', '"a\n', 'a"\n', '\xe4\n', '"";', ',;', '\n']) {
    await convert(Buffer.from(`id;name\n${line.repeat(150_000)}`, 'latin1'), {}, 65_536);
  }
  assert.ok(process.threadCpuUsage(before).user < 2400 * 1000, `${process.threadCpuUsage(before).user}`);
});

test('plants written in any dialect are read as if they were written plainly', async () => {
  const awkward = ['', '"', '""', ',', ';', '\t', '|', '\n', '\r\n', '\r', ' ', 'sep=;', 'é', 'ß', '€', '\u00a0', 'x'];
  const only1252 = fc.constantFrom(...awkward, ...'äöüÄÖÜéè®–“”');
  const unicode = fc.oneof(fc.constantFrom(...awkward), fc.string({ unit: codePoints, maxLength: 3 }));
  const cases = fc.constantFrom('windows-1252', 'utf-8', 'utf-16le', 'utf-16be').chain((encoding) => {
    const unit = encoding === 'windows-1252' ? only1252 : unicode;
    const text = fc
      .array(unit, { maxLength: 4 })
      .map((parts) => parts.join(''))
      .filter((one) => one.isWellFormed() && !/[\0\ufffd]/.test(one));
    const plant = fc.record({
      id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      name: text,
      tag: fc.option(text, { nil: undefined }),
    });
    return fc.record({
      encoding: fc.constant(encoding),
      plants: fc.array(plant, { maxLength: 12 }),
      delimiter: fc.constantFrom(',', ';', '\t', '|'),
      hasDelimiterLine: fc.boolean(),
      hasMark: fc.boolean(),
      isQuoted: fc.boolean(),
      lineEnd: fc.constantFrom('\n', '\r\n'),
      endsWithLine: fc.boolean(),
      size: fc.integer({ min: 1, max: 40 }),
    });
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ plants, size, encoding, ...style }) => {
      const hasMark = encoding.startsWith('utf-16') || (encoding === 'utf-8' && style.hasMark);
      const isNamed = style.hasDelimiterLine || style.delimiter === '|';
      const text = (hasMark ? MARK : '') + writeCsv(plants, { ...style, hasDelimiterLine: isNamed });
      // Which lines of Windows-1252 are also UTF-8 is another test.
      const choice = encoding === 'windows-1252' ? { encoding } : {};
      const { plants: found, errors } = await read(encodeAs(text, encoding), choice, size);
      assert.deepEqual(errors, []);
      assert.deepEqual(
        found.map(([, one]) => one),
        plants.map(({ id, name, tag }) => (tag === undefined ? { id, name } : { id, name, tag })),
      );
    }),
    { numRuns: 500 },
  );
});

test('any text is read as the same text with commas and semicolons exchanged', async () => {
  const exchange = (text: string) => text.replace(/[,;]/g, (found) => (found === ',' ? ';' : ','));
  const pieces = fc.constantFrom(
    '1;a;b\n',
    '"',
    '";"',
    '";',
    ';"',
    ',',
    ';',
    '\n',
    '\r',
    '\r\n',
    'x',
    ' ',
    '2',
    '""',
    '",',
  );
  const cases = fc.record({
    rows: fc.array(pieces, { maxLength: 24 }).map((parts) => `id;name;tag\n${parts.join('')}`),
    size: fc.integer({ min: 1, max: 40 }),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ rows, size }) => {
      const { plants, errors } = await read(utf8(rows), { delimiter: ';' }, size);
      const exchanged = await readPlantFile('csv', utf8(exchange(rows)), 65_536);
      const names = plants.map(([line, { id, name, tag = '-' }]) => [line, id, exchange(name), exchange(tag)]);
      assert.deepEqual(
        names,
        exchanged.plants.map(([line, { id, name, tag = '-' }]) => [line, id, name, tag]),
      );
      assert.deepEqual(
        errors.map(([line]) => line),
        exchanged.errors.map(({ line }) => line),
      );
    }),
    { numRuns: 300 },
  );
});

/** Writes plants as a spreadsheet does. */
function writeCsv(
  plants: NewPlant[],
  style: { delimiter: string; hasDelimiterLine: boolean; isQuoted: boolean; lineEnd: string; endsWithLine: boolean },
): string {
  const cell = (text: string | undefined): string => {
    if (text === undefined) return '';
    const isSpecial = text === '' || /["\r\n]/.test(text) || text.includes(style.delimiter);
    return style.isQuoted || isSpecial ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const rows = [['id', 'name', 'tag'], ...plants.map(({ id, name, tag }) => [String(id), name, tag])].map((cells) =>
    cells.map(cell).join(style.delimiter),
  );
  const lines = [...(style.hasDelimiterLine ? [`sep=${style.delimiter}`] : []), ...rows];
  return lines.join(style.lineEnd) + (style.endsWithLine || plants.length === 0 ? style.lineEnd : '');
}

async function read(bytes: Buffer, choice: CsvChoice = {}, size = 65_536) {
  const { converted, recognised } = await convert(bytes, choice, size);
  const { plants, errors } = await readPlantFile('csv', converted, 65_536);
  return { plants, recognised, errors: errors.map(({ line, error }) => [line, error.message] as [number, string]) };
}

async function convert(bytes: Buffer, choice: CsvChoice = {}, size = 65_536) {
  const recognised: string[] = [];
  const chunks = convertCsv(chunked(bytes, size), choice, (dialect) => recognised.push(describeDialect(dialect)));
  return { converted: Buffer.concat(await Array.fromAsync(chunks)), recognised };
}

async function* chunked(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function utf8(text: string): Buffer {
  return Buffer.from(text);
}

function utf16(text: string): Buffer {
  return Buffer.from(text, 'utf16le');
}

/** Encodes by the inverse of TextDecoder. */
function windows1252(text: string): Buffer {
  const characters = new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));
  return Buffer.from(Array.from(text, (character) => characters.indexOf(character)));
}

function encodeAs(text: string, encoding: string): Buffer {
  if (encoding === 'windows-1252') return windows1252(text);
  if (encoding === 'utf-8') return utf8(text);
  return encoding === 'utf-16le' ? utf16(text) : utf16(text).swap16();
}

function withTabs(text: string): string {
  return text.replaceAll(';', '\t').replace('""\t rot', '""; rot');
}
