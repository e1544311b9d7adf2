// Converts lists to and from PostgreSQL array literals. A whole batch fits into one parameter.

export function toArray(values: Iterable<string | bigint | number | null>): string {
  let text = '';
  for (const value of values) {
    if (text !== '') text += ',';
    if (value === null) text += 'NULL';
    else text += typeof value === 'string' ? quote(value) : value;
  }
  return `{${text}}`;
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
