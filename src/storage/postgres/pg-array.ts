// A list as PostgreSQL writes an array, in one parameter for a whole batch.

export function toArray(values: Iterable<string | bigint | number | null>): string {
  let text = '';
  for (const value of values) {
    if (text !== '') text += ',';
    if (value === null) text += 'NULL';
    else text += typeof value === 'string' ? quote(value) : value;
  }
  return `{${text}}`;
}

/** Of numbers, some of which may be null. */
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
