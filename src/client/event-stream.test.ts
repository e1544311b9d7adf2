import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createEventReader, type ServerEvent } from './event-stream.ts';

function read(...pieces: (string | Uint8Array)[]): ServerEvent[] {
  const readEvents = createEventReader();
  return pieces.flatMap((piece) => readEvents(typeof piece === 'string' ? Buffer.from(piece) : piece));
}

const message = (data: string, id = '') => ({ id, type: 'message', data });

const STREAMS: [what: string, stream: string, events: ServerEvent[]][] = [
  ['reads id, event and data', 'id: 7\nevent: e\ndata: x\n\n', [{ id: '7', type: 'e', data: 'x' }]],
  ['accepts CRLF and CR as line ends', 'data: a\r\n\r\ndata: b\r\rdata: c\n\n', ['a', 'b', 'c'].map((x) => message(x))],
  ['removes one space after the colon', 'data:a\n\ndata:  b\n\n', [message('a'), message(' b')]],
  ['joins several lines of data', 'data: a\ndata\ndata: b\n\n', [message('a\n\nb')]],
  ['keeps further colons', 'data: {"a":1}\n\n', [message('{"a":1}')]],
  ['ignores comments, blank lines and unknown fields', ': hi\n\n\n:\nretry: 5\nnope\ndata: a\n\n', [message('a')]],
  ['returns no event without data, but keeps its id', 'id: 1\n\nevent: e\n\ndata: a\n\n', [message('a', '1')]],
  [
    'keeps the id for later events, but not the type',
    'id: 1\nevent: e\ndata: a\n\ndata: b\n\n',
    [{ id: '1', type: 'e', data: 'a' }, message('b', '1')],
  ],
  ['ignores an id with U+0000', 'id: 1\nid: 2\0\ndata: a\n\n', [message('a', '1')]],
  ['drops a byte order mark', '\uFEFFdata: a\n\n', [message('a')]],
  ['keeps characters that only look like line ends', 'data: a\u2028b\u0085c\n\n', [message('a\u2028b\u0085c')]],
  ['discards an incomplete event', 'data: a\n\ndata: b\n', [message('a')]],
];

for (const [what, stream, events] of STREAMS) {
  test(`createEventReader() ${what}`, () => {
    assert.deepEqual(read(stream), events);
  });
}

test('createEventReader() returns an event with the byte that ends it, even if that byte is a CR', () => {
  const readEvents = createEventReader();
  assert.deepEqual(readEvents(Buffer.from('data: a\r')), []);
  assert.deepEqual(readEvents(Buffer.from('\r')), [message('a')]);
  assert.deepEqual(readEvents(Buffer.from('\ndata: b\n\n')), [message('b')]);
});

test('createEventReader() returns the same events for any chunk boundaries', () => {
  const part = fc.constantFrom(
    'id: 1',
    'data: ',
    'data:é',
    '🌵',
    ': c',
    'event: e',
    '\r',
    '\n',
    '\r\n',
    '\n\n',
    '\uFEFF',
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), fc.array(fc.nat(200)), (parts, cuts) => {
      const bytes = Buffer.from(parts.join(''));
      const ends = [...cuts.sort((a, b) => a - b), bytes.length];
      const pieces = ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
      assert.deepEqual(read(...pieces), read(bytes));
    }),
    { numRuns: 2000 },
  );
});
