// Reads, joins and splits byte arrays and streams of them, and finds where their text starts. Also runs in browsers.

/** The byte order mark of UTF-8. */
export const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
/** Blanks, line ends and the bytes of a byte order mark. */
const SKIPPED = [0x20, 0x09, 0x0d, 0x0a, ...BYTE_ORDER_MARK];

/** Returns all parts as new bytes. */
export function concatBytes(parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Yields the same bytes in chunks of at least `minBytes`, 64 KiB by default. The last can be smaller. */
export async function* inLargeChunks(
  chunks: AsyncIterable<Uint8Array>,
  minBytes = 64 * 1024,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    bytes += chunk.length;
    if (bytes < minBytes) continue;
    yield concatBytes(parts);
    parts = [];
    bytes = 0;
  }
  if (bytes > 0) yield concatBytes(parts);
}

/** Yields the bytes of a Blob in chunks of `bytes`. The last can be smaller. */
export async function* readBlob(blob: Blob, bytes: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < blob.size; at += bytes) yield new Uint8Array(await blob.slice(at, at + bytes).arrayBuffer());
}

/** Reads the first chunk, which is empty at the end of the file. */
export async function readFirst(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ first: Uint8Array; rest: AsyncIterable<Uint8Array> }> {
  const iterator = chunks[Symbol.asyncIterator]();
  const { value, done } = await iterator.next();
  return { first: done ? new Uint8Array(0) : value, rest: { [Symbol.asyncIterator]: () => iterator } };
}

/** Yields the first chunk, unless it is empty, and the others. */
export async function* withFirst(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (first.length > 0) yield first;
  yield* rest;
}

/** Returns the position after the byte order mark of a file in UTF-8, or 0 if it has none. */
export function afterByteOrderMark(file: Uint8Array): number {
  return BYTE_ORDER_MARK.every((byte, at) => file[at] === byte) ? BYTE_ORDER_MARK.length : 0;
}

/** Returns the first byte of the text that is not blank. */
export function firstCharacter(bytes: Uint8Array): number | undefined {
  return bytes.find((byte) => !SKIPPED.includes(byte));
}
