// A separate process that tests a JSON parser: a key with an escape must not be mistaken for an earlier key at the same
// position. V8 makes this mistake only for keys it has not seen, and few are left after a million texts.

import { deepStrictEqual } from 'node:assert';

const { parseJson } = await import(process.argv[2] as string);
for (const [at, name] of ['a', 'tag', 'name', 'toString'].entries()) {
  const first = `key ${at}`;
  const escaped = `\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}`;
  parseJson(JSON.stringify({ [first]: 1, [escaped.slice(0, name.length)]: 2 }));
  const text = `{"${first}":1,"${escaped}":3}`;
  deepStrictEqual(parseJson(text), { [first]: 1, [name]: 3 }, `read as another value: ${text}`);
}
