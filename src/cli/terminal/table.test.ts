// Tests that tables fit the terminal, and of the looks that all tables share.

import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { displayWidth } from '../../lib/safe-text.ts';
import { TOKEN_COLUMNS } from '../token-table.ts';
import { DELIVERY_COLUMNS, WEBHOOK_COLUMNS } from '../webhook-tables.ts';
import { describeChange, PLANT_COLUMNS } from './plant-table.ts';
import { type Column, colourOfStatus, createTable, toTable } from './table.ts';

const WIDTHS = [40, 80, 120];
const TIME = '2026-11-17T09:30:00.000Z';

/** Returns an output of the given width, on which text has colours unless it is a pipe. */
function outputOf(columns: number, isTTY = true) {
  return Object.assign(new Writable(), { columns, isTTY, getColorDepth: () => 4 });
}

/** Returns the lines of a text without colours. Fails if one is wider than the terminal. */
function linesOf(text: string, width: number): string[] {
  const lines = stripVTControlCharacters(text).split('\n').slice(0, -1);
  for (const line of lines) assert.ok(displayWidth(line) <= width, `wider than ${width}: ${line}`);
  return lines;
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.constantFrom(
    '',
    '-',
    '苗圃ユリ'.repeat(20),
    '👩‍🌾 e\u0301 \u001b[2J\n\u202e',
    'x'.repeat(2000),
    'https://shop.example/'.repeat(9),
  ),
);
const time = fc.option(fc.constant(TIME), { nil: undefined });
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const seq = fc.maxSafeNat();
const optional = fc.option(text, { nil: undefined });
const id = fc.stringMatching(/^[a-z]{3}_[0-9A-Za-z]{12}$/);

const TABLES: [name: string, columns: Column<never>[], row: fc.Arbitrary<object>][] = [
  ['plants', PLANT_COLUMNS, fc.record({ id: int64, name: text, tag: optional, updated: time })],
  [
    'tokens',
    TOKEN_COLUMNS,
    fc.record({
      id,
      name: text,
      scopes: fc.subarray(['plants:read', 'plants:write', 'admin'], { minLength: 1 }),
      rate: fc.option(fc.constantFrom('1000000/s', '5/m'), { nil: undefined }),
      created: time,
      lastUsed: time,
      expires: time,
      status: fc.constantFrom('active', 'expired', 'revoked'),
    }),
  ],
  [
    'webhooks',
    WEBHOOK_COLUMNS,
    fc.record({
      id,
      name: optional,
      url: text,
      events: fc.subarray(['plant.created', 'plant.updated', 'plant.deleted'], { minLength: 1 }),
      format: fc.constantFrom('plant', 'event'),
      status: fc.constantFrom('active', 'failing', 'disabled'),
      since: time,
      position: seq,
      reason: optional,
    }),
  ],
  [
    'deliveries',
    DELIVERY_COLUMNS,
    fc.record({
      seq,
      event: fc.constantFrom('plant.created', 'plant.updated', 'plant.deleted'),
      plant: int64,
      status: fc.constantFrom('waiting', 'delivered', 'dead'),
      attempts: fc.nat(10),
      time,
      next: time,
      code: fc.option(fc.integer({ min: 100, max: 999 }), { nil: undefined }),
      error: optional,
    }),
  ],
];

for (const [name, columns, row] of TABLES) {
  test(`no line of a table of ${name} is wider than the terminal, and no id is cut`, () => {
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 5 }), fc.constantFrom(...WIDTHS), (rows, width) => {
        const lines = linesOf(toTable(columns, rows as never[], outputOf(width)), width);
        assert.equal(lines.length, rows.length + 1);
        const ids = rows.map((each) => String(columns[0]?.cell(each as never)));
        for (const [at, line] of lines.slice(1).entries()) assert.equal(line.split(' ')[0], ids[at]);
      }),
      { numRuns: 60 },
    );
  });
}

test('no line about a change is wider than a terminal of 80 or 120 columns', () => {
  const change = fc.record({
    seq,
    time: fc.constant(TIME),
    type: text,
    plant: fc.record({ id: int64, name: text, tag: optional }),
  });
  fc.assert(
    fc.property(change, optional, fc.constantFrom(80, 120), (one, author, width) => {
      linesOf(describeChange(one as never, outputOf(width), author), width);
    }),
    { numRuns: 60 },
  );
});

interface Row {
  id: string;
  name?: string;
  tags: string[];
  count: number;
}
const ROWS: Row[] = [
  { id: 'one', name: 'a long name', tags: ['red', 'green'], count: 5 },
  { id: 'two', name: '', tags: ['red'], count: 1000 },
  { id: 'three', tags: [], count: 20 },
];
const COLUMNS: Column<Row>[] = [
  { heading: 'ID', cell: ({ id }) => id },
  { heading: 'NAME', cell: ({ name }) => name, minWidth: 6 },
  { heading: 'TAGS', cell: ({ tags }) => tags.join(','), short: ({ tags }) => String(tags.length), ifRoom: 2 },
  { heading: 'COUNT', cell: ({ count }) => String(count), isQuantity: true, ifRoom: 1 },
];

test('a narrow table has short forms first, then fewer columns, then shorter cells', () => {
  const shown = (width: number) => linesOf(toTable(COLUMNS, ROWS, outputOf(width)), width);
  assert.deepEqual(shown(40), [
    'ID     NAME         TAGS       COUNT',
    'one    a long name  red,green      5',
    'two    ""           red         1000',
    'three  -            ""            20',
  ]);
  assert.deepEqual(shown(30).slice(0, 2), ['ID     NAME        TAGS  COUNT', 'one    a long na…  2         5']);
  assert.deepEqual(shown(25).slice(0, 2), ['ID     NAME         COUNT', 'one    a long name      5']);
  assert.deepEqual(shown(12).slice(0, 2), ['ID     NAME', 'one    a lo…']);
});

test('headings and empty cells are dim, a status has its colour, and a pipe has no colours', () => {
  const columns: Column<{ status: string; since?: string }>[] = [
    { heading: 'STATUS', cell: ({ status }) => status, colour: colourOfStatus },
    { heading: 'SINCE', cell: ({ since }) => since },
  ];
  const rows = [{ status: 'dead' }, { status: 'active', since: 'now' }, { status: 'constructor' }];
  const shown = toTable(columns, rows, outputOf(80)).replaceAll('\u001b', '');
  const expected = [
    '[2mSTATUS[22m       [2mSINCE[22m',
    '[31mdead[39m         [2m-[22m',
    '[32mactive[39m       now',
    'constructor  [2m-[22m',
  ];
  assert.deepEqual(shown.split('\n').slice(0, -1), expected);
  assert.ok(!toTable(columns, rows, outputOf(80, false)).includes('\u001b'));
});

test('columns widen from page to page, and only the first page has headings', () => {
  const print = createTable(COLUMNS.slice(0, 2), outputOf(80));
  const pages = [print(ROWS.slice(0, 1)), print(ROWS.slice(2))];
  assert.deepEqual(
    pages.flatMap((page) => linesOf(page, 80)),
    ['ID   NAME', 'one  a long name', 'three  -'],
  );
});
