// Makes the calls of a generated client against a real server: node walk.js CLIENT URL TOKEN

import assert from 'node:assert/strict';
import type { CreateClient } from './plant-client.ts';

const [name = '', url = '', token = ''] = process.argv.slice(2);
const { createClient } = (await import(`./${name}.js`)) as { createClient: CreateClient };
const client = createClient({ url, token });

assert.deepEqual(await client.create({ id: 1, name: 'Monstera deliciosa', tag: 'tropical' }), {
  name: 'Monstera deliciosa',
  tag: 'tropical',
});
await client.create({ id: 2, name: 'Abies balsamea' });
await assert.rejects(client.create({ id: 1, name: 'another plant' }), 'an id that is taken');

assert.deepEqual(idsOf(await client.list({ limit: 1 })), [1]);
assert.deepEqual(idsOf(await client.list({ tag: 'tropical' })), [1]);

const patched = await client.patch(1, { tag: null }, 'W/"1"');
assert.deepEqual([patched.id, patched.tag], [1, undefined]);
await assert.rejects(client.patch(1, { tag: 'rare' }, '"1"'), 'a version that is gone');

const { created, replayed, failed } = await client.import('id,name,tag\n2,Abies balsamea,\n3,Ficus,tree\nx,Rosa,\n');
assert.deepEqual({ created, replayed, failed }, { created: 1, replayed: 1, failed: 1 });

await client.delete(2);
assert.deepEqual(idsOf(await client.list({})), [1, 3]);

function idsOf(plants: { id: number }[]): number[] {
  return plants.map(({ id }) => id);
}
