// Joins byte arrays, and finds where their text starts. Also runs in browsers.

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
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

/** Yields the same bytes in chunks of at least `minBytes`. The last can be smaller. */
export async function* inLargeChunks(
  chunks: AsyncIterable<Uint8Array>,
  minBytes: number,
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

/** Returns the position after the byte order mark of a file in UTF-8, or 0 if it has none. */
export function afterByteOrderMark(file: Uint8Array): number {
  return BYTE_ORDER_MARK.every((byte, at) => file[at] === byte) ? BYTE_ORDER_MARK.length : 0;
}

/** Returns the first byte of the text that is not blank. */
export function firstCharacter(bytes: Uint8Array): number | undefined {
  return bytes.find((byte) => !SKIPPED.includes(byte));
}
