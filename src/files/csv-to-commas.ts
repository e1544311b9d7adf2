// Converts CSV with another delimiter to CSV with commas, record by record. Also runs in browsers. Lines that the reader
// would reject stay invalid, and all others keep the exact text of their cells.

import { concatBytes } from './bytes.ts';
import {
  CARRIAGE_RETURN,
  COMMA,
  createEndOfQuoted,
  endOfQuotedCell,
  MAX_RECORD_BYTES,
  NEWLINE,
  NOT_CSV,
  QUOTE,
} from './csv-record-end.ts';

const SPACE = 0x20;
const LINE_END = Uint8Array.of(NEWLINE);
/** Replaces the missing end of a quoted cell. The reader rejects text after a closing quotation mark. */
const NOT_CLOSED = new TextEncoder().encode('" (not closed)');

/** Yields the records with commas. Memory is bounded for any input. */
export async function* toCommas(chunks: AsyncIterable<Uint8Array>, delimiter: number): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array(0);
  let isTooLong = false;
  const writer = createCommaWriter(delimiter);
  for await (const chunk of chunks) yield convert(concatBytes([rest, chunk]), false);
  if (rest.length > 0) yield convert(concatBytes([rest, LINE_END]), true).subarray(0, -1);

  /** Converts the complete records, and finds their ends as the reader does. */
  function convert(bytes: Uint8Array, isLast: boolean): Uint8Array {
    writer.start(bytes);
    const endOfRecord = createEndOfQuoted(bytes, delimiter);
    let at = isTooLong ? keepLine(bytes, 0) : 0;
    while (at < bytes.length) {
      const end = endOfRecord(at);
      const firstEnd = end === NOT_CSV ? bytes.indexOf(NEWLINE, at) : end;
      if (firstEnd === -1 && !isLast && bytes.length - at <= MAX_RECORD_BYTES) break; // the record is incomplete
      const lineEnd = end < 0 ? bytes.indexOf(NEWLINE, at) : end;
      if (lineEnd === -1) {
        at = keepLine(bytes, at);
      } else {
        writer.writeRecord(at, lineEnd);
        at = lineEnd + 1;
      }
    }
    rest = bytes.subarray(at);
    return writer.end();
  }

  /** Keeps a line that is too long as it is. Returns its end, or the end of `bytes`. */
  function keepLine(bytes: Uint8Array, start: number): number {
    const end = bytes.indexOf(NEWLINE, start);
    isTooLong = end === -1;
    const next = isTooLong ? bytes.length : end + 1;
    writer.writeRaw(start, next);
    return next;
  }
}

interface CommaWriter {
  /** Sets the bytes that the other methods refer to. */
  start(bytes: Uint8Array): void;
  writeRaw(start: number, end: number): void;
  /** Writes a record, or the first line of a malformed one. `end` is the position of its line feed. */
  writeRecord(start: number, end: number): void;
  /** Returns what was written since `start`. */
  end(): Uint8Array;
}

function createCommaWriter(delimiter: number): CommaWriter {
  let bytes: Uint8Array = new Uint8Array(0);
  let out = new Uint8Array(0);
  let length = 0;

  return {
    start(newBytes) {
      bytes = newBytes;
      out = new Uint8Array(bytes.length + bytes.length / 4);
      length = 0;
    },
    writeRaw(start, end) {
      reserve(end - start);
      copy(start, end);
    },
    writeRecord(start, end) {
      reserve(2 * (end - start) + NOT_CLOSED.length + 2); // a cell "," and its delimiter double
      const isWithReturn = end > start && bytes[end - 1] === CARRIAGE_RETURN;
      const cellsEnd = isWithReturn ? end - 1 : end;
      for (let at = start; at <= cellsEnd; at++) {
        if (at > start) out[length++] = COMMA;
        at = bytes[at] === QUOTE && at < cellsEnd ? writeQuotedCell(at, cellsEnd) : writeCell(at, cellsEnd);
      }
      copy(cellsEnd, end + 1);
    },
    end: () => out.subarray(0, length),
  };

  function reserve(more: number): void {
    if (length + more <= out.length) return;
    const larger = new Uint8Array(2 * (length + more));
    larger.set(out.subarray(0, length));
    out = larger;
  }

  function writeCell(start: number, recordEnd: number): number {
    let hasComma = false;
    let end = start;
    for (; end < recordEnd && bytes[end] !== delimiter; end++) hasComma ||= bytes[end] === COMMA;
    if (hasComma) quote(start, end);
    else copy(start, end);
    return end;
  }

  /** Writes a cell that starts with a quotation mark. After a malformed cell, the rest of the line belongs to it. */
  function writeQuotedCell(start: number, recordEnd: number): number {
    const close = endOfQuotedCell(bytes, start + 1);
    const isClosed = close !== -1 && close < recordEnd;
    let end = isClosed ? close + 1 : recordEnd;
    const isTextAfter = isClosed && end < recordEnd && bytes[end] !== delimiter;
    if (isTextAfter && bytes[end] === CARRIAGE_RETURN) {
      while (end < recordEnd && bytes[end] !== delimiter) end++;
      quote(start, end); // the reader takes all of it for text
      return end;
    }
    copy(start, end);
    if (isTextAfter) {
      out[length++] = SPACE; // text that starts with a comma would end the cell
      copy(end, recordEnd);
      end = recordEnd;
    }
    if (!isClosed) for (const byte of NOT_CLOSED) out[length++] = byte;
    return end;
  }

  function copy(start: number, end: number): void {
    for (let at = start; at < end; at++) out[length++] = bytes[at] as number;
  }

  function quote(start: number, end: number): void {
    out[length++] = QUOTE;
    for (let at = start; at < end; at++) {
      if (bytes[at] === QUOTE) out[length++] = QUOTE;
      out[length++] = bytes[at] as number;
    }
    out[length++] = QUOTE;
  }
}
