// Converts the bytes of a CSV file to UTF-8. Also runs in browsers. No line is converted to a wrong text unnoticed: a line
// with bytes that cannot be decoded stays invalid UTF-8, so that the reader reports it.

import { UserError } from '../lib/user-error.ts';
import { concatBytes } from './bytes.ts';
import { countNewlines, MAX_RECORD_BYTES, NEWLINE } from './csv-record-end.ts';

const REPLACEMENT = '\ufffd';
/** A byte that UTF-8 never contains. */
const INVALID_BYTE = 0xff;
/** The characters for bytes that Windows-1252 and other encodings of one byte per character leave undefined. */
const UNDEFINED = /[\u0080-\u009f]/g;
/** The smallest and largest second byte after first bytes that do not allow all: longer forms and surrogates are invalid. */
const SECOND_BYTES: Record<number, [number, number]> = {
  224: [0xa0, 0xbf],
  237: [0x80, 0x9f],
  240: [0x90, 0xbf],
  244: [0x80, 0x8f],
};

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();
/** UTF-8 of the bytes from 0x80. */
const WINDOWS_1252 = Array.from({ length: 0x80 }, (_, at) => {
  const text = new TextDecoder('windows-1252').decode(Uint8Array.of(0x80 + at));
  return text.search(UNDEFINED) === -1 ? encoder.encode(text) : Uint8Array.of(INVALID_BYTE);
});

/** Yields the file as UTF-8. Without an encoding, `onWindows1252` is called before each block that is converted. */
export function toUtf8(
  chunks: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
  onWindows1252: () => void,
): AsyncIterable<Uint8Array> {
  if (encoding === 'utf-8') return chunks;
  return encoding === undefined ? guessByLine(chunks, onWindows1252) : decodeAll(chunks, encoding);
}

async function* decodeAll(chunks: AsyncIterable<Uint8Array>, encoding: string): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding);
  const undefinedCharacters = encoding.startsWith('utf-') ? REPLACEMENT : UNDEFINED;
  for await (const chunk of chunks) yield encode(decoder.decode(chunk, { stream: true }));
  yield encode(decoder.decode());

  function encode(text: string): Uint8Array {
    const marked = text.replaceAll(undefinedCharacters, REPLACEMENT);
    const [first = '', ...others] = marked.split(REPLACEMENT);
    const invalid = Uint8Array.of(INVALID_BYTE);
    return concatBytes([encoder.encode(first), ...others.flatMap((text) => [invalid, encoder.encode(text)])]);
  }
}

/**
 * Yields UTF-8 unchanged, and converts the lines of a Windows-1252 file. A file is Windows-1252 while it has more invalid
 * lines than bytes of valid UTF-8 outside ASCII, counted up to the end of each block. The first block cannot decide
 * this, because the first umlaut may come late. A line that is valid UTF-8 in a Windows-1252 file is ambiguous, and
 * becomes invalid. Throws UserError if lines were converted and the file is UTF-8 after all.
 */
async function* guessByLine(chunks: AsyncIterable<Uint8Array>, onWindows1252: () => void): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array(0);
  let utf8Bytes = 0;
  let invalidLines = 0;
  let linesBefore = 0;
  let firstConverted: number | undefined;
  for await (const chunk of chunks) {
    const bytes = concatBytes([rest, chunk]);
    const end = bytes.lastIndexOf(NEWLINE) + 1 || (bytes.length > MAX_RECORD_BYTES ? bytes.length : 0);
    rest = bytes.subarray(end);
    if (end > 0) yield convert(bytes.subarray(0, end));
  }
  if (rest.length > 0) yield convert(rest);

  function convert(block: Uint8Array): Uint8Array {
    const ofBlock = countUtf8Quickly(block);
    utf8Bytes += ofBlock ?? 0;
    if (ofBlock === 0 || (ofBlock !== undefined && invalidLines <= utf8Bytes)) return asItIs(block);
    const lines = linesOf(block).map((line) => ({ line, count: countUtf8(line) }));
    for (const { line, count } of ofBlock === undefined ? lines : []) {
      if (count !== undefined) utf8Bytes += count;
      else if (!isCutOff(line)) invalidLines++;
    }
    if (invalidLines <= utf8Bytes) return asItIs(block);
    onWindows1252();
    firstConverted ??= linesBefore + 1 + lines.findIndex(({ count }) => count === undefined);
    return concatBytes(
      lines.map(({ line, count }) => (count === 0 ? line : fromWindows1252(line, count !== undefined))),
    );
  }

  function asItIs(block: Uint8Array): Uint8Array {
    if (firstConverted === undefined) linesBefore += countNewlines(block);
    else if (utf8Bytes >= invalidLines) {
      const start = `Line ${firstConverted} is not UTF-8, so it was read as Windows-1252, but lines after it are UTF-8`;
      throw new UserError(`${start}. Correct that line, or use the command with --encoding utf-8.`);
    }
    return block;
  }
}

function fromWindows1252(line: Uint8Array, isAmbiguous: boolean): Uint8Array {
  const out = new Uint8Array(3 * line.length);
  let length = 0;
  for (const byte of line) {
    if (byte < 0x80) out[length++] = byte;
    else if (isAmbiguous) out[length++] = INVALID_BYTE;
    else for (const one of WINDOWS_1252[byte - 0x80] as Uint8Array) out[length++] = one;
  }
  return out.subarray(0, length);
}

/** Returns about the same as `countUtf8`, but 20 times as fast. */
function countUtf8Quickly(bytes: Uint8Array): number | undefined {
  const text = utf8.decode(bytes);
  return text.includes(REPLACEMENT) ? countUtf8(bytes) : bytes.length - text.length;
}

/** Returns the number of bytes that continue a UTF-8 character: 0 for ASCII, undefined for bytes that are not UTF-8. */
function countUtf8(bytes: Uint8Array): number | undefined {
  let count = 0;
  for (let at = 0; at < bytes.length; at++) {
    const first = bytes[at] as number;
    if (first < 0x80) continue;
    if (first < 0xc2 || first > 0xf4) return undefined;
    const more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    const [min, max] = SECOND_BYTES[first] ?? [0x80, 0xbf];
    const second = bytes[at + 1] ?? 0;
    if (second < min || second > max) return undefined;
    for (const end = at + more; at < end; at++) if (((bytes[at + 1] ?? 0) & 0xc0) !== 0x80) return undefined;
    count += more;
  }
  return count;
}

/** True for UTF-8 that ends within a character, as the last line of a file that is incomplete. */
function isCutOff(line: Uint8Array): boolean {
  if (line.at(-1) === NEWLINE) return false;
  const ends = [0x80, 0xbf].flatMap((byte) => [1, 2, 3].map((length) => new Uint8Array(length).fill(byte)));
  return ends.some((end) => countUtf8(concatBytes([line, end])) !== undefined);
}

function linesOf(block: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let start = 0; start < block.length; ) {
    const end = block.indexOf(NEWLINE, start) + 1 || block.length;
    lines.push(block.subarray(start, end));
    start = end;
  }
  return lines;
}
