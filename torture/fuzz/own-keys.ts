// A process of its own, with the path of a json.ts: is a key with an escape in it taken for one that was read before at
// its place? V8 does so only with keys that are new to it, and it is new to few after a million texts.

import { deepStrictEqual } from 'node:assert';

const { parseJson } = await import(process.argv[2] as string);
for (const [at, name] of ['a', 'tag', 'name', 'toString'].entries()) {
  const first = `key ${at}`;
  const escaped = `\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}`;
  parseJson(JSON.stringify({ [first]: 1, [escaped.slice(0, name.length)]: 2 }));
  const text = `{"${first}":1,"${escaped}":3}`;
  deepStrictEqual(parseJson(text), { [first]: 1, [name]: 3 }, `read as another value: ${text}`);
}
