// Import files: valid ones, and arbitrary bytes.

import fc from 'fast-check';
import { texts } from './schema-texts.ts';

const plants = fc.array(
  fc.record({
    id: fc.integer({ min: 100, max: 120 }),
    name: texts,
    tag: fc.option(texts, { nil: undefined, freq: 2 }),
  }),
  { minLength: 1, maxLength: 4 },
);

export function goodFiles(type: string): fc.Arbitrary<string> {
  const ends = fc.constantFrom('\n', '\r\n', '\n\n');
  return fc.tuple(plants, ends).map(([all, end]) => {
    if (type === 'application/x-ndjson') return all.map((plant) => JSON.stringify(plant) + end).join('');
    const rows = all.map(({ id, name, tag }) => [id, quote(name), ...(tag === undefined ? [] : [quote(tag)])].join());
    return ['id,name,tag', ...rows, ''].join(end);
  });
}

const pieces = fc.constantFrom(
  ...['id,name,tag\n', 'name,id\n', '1,a,b\n', '101,"a\nb"\n', ...'",\n\r\ufeff\0\xe9;', '\r\n', '\u2028', ' \n'],
  ...['{"id":102,"name":"x"}\n', '{"id":1}\n', '{', '}', '[]\n', 'null\n', '{"id":103,"name":"y","tag":"é"}'],
);
export const anyFiles: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  { weight: 4, arbitrary: fc.array(pieces, { maxLength: 12 }).map((all) => all.join('')) },
  { weight: 2, arbitrary: fc.array(pieces, { maxLength: 8 }).map((all) => Buffer.from(all.join(''), 'latin1')) },
  { weight: 2, arbitrary: fc.array(pieces, { maxLength: 8 }).map((all) => `id,name,tag\n${all.join('')}`) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 100 }) },
);

function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
