// Converts lists to and from PostgreSQL arrays. A whole batch fits into one parameter.

const INT8_OID = 20;
const HEADER_BYTES = 20;
const INT8_BYTES = 8;

export function toArray(values: Iterable<string | bigint | number | null>): string {
  let text = '';
  for (const value of values) {
    if (text !== '') text += ',';
    if (value === null) text += 'NULL';
    else text += typeof value === 'string' ? quote(value) : value;
  }
  return `{${text}}`;
}

/** Returns an array of bigint in binary format, which PostgreSQL reads faster than text. */
export function toBigints(values: (bigint | number)[]): Buffer {
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + values.length * (4 + INT8_BYTES));
  const view = new DataView(buffer.buffer, buffer.byteOffset);
  const [dimensions, hasNulls, firstIndex] = [1, 0, 1];
  const header = [dimensions, hasNulls, INT8_OID, values.length, firstIndex];
  for (const [at, field] of header.entries()) view.setInt32(4 * at, field);
  let at = HEADER_BYTES;
  for (const value of values) {
    view.setInt32(at, INT8_BYTES);
    view.setBigInt64(at + 4, BigInt(value));
    at += 4 + INT8_BYTES;
  }
  return buffer;
}

/** Parses an array of numbers. Returns undefined for NULL elements. */
export function readNumbers(array: string): (number | undefined)[] {
  if (array === '{}') return [];
  return array
    .slice(1, -1)
    .split(',')
    .map((text) => (text === 'NULL' ? undefined : Number(text)));
}

function quote(text: string): string {
  return /["\\]/.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`;
}
