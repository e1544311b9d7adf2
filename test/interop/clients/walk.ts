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

assert.deepEqual(await listed({ limit: 1 }), { ids: [1], total: null });
assert.deepEqual(await listed({ tag: ['tropical'], count: true }), { ids: [1], total: '1' });
assert.deepEqual(await listed({ sort: 'name', count: true }), { ids: [2, 1], total: '2' });
assert.deepEqual(await listed({ sort: '-name', limit: 1 }), { ids: [1], total: null });

const patched = await client.patch(1, { tag: null }, 'W/"1"');
assert.deepEqual([patched.id, patched.tag], [1, undefined]);
await assert.rejects(client.patch(1, { tag: 'rare' }, '"1"'), 'a version that is gone');

const changes = await client.history(1);
assert.deepEqual(
  changes.map(({ type }) => type),
  ['plant.updated', 'plant.created'],
);
assert.ok(changes[0]?.tokenName);

const { created, replayed, failed } = await client.import('id,name,tag\n2,Abies balsamea,\n3,Ficus,tree\nx,Rosa,\n');
assert.deepEqual({ created, replayed, failed }, { created: 1, replayed: 1, failed: 1 });

await client.delete(2);
assert.deepEqual((await listed({ tag: ['tree', 'none'] })).ids, [3]);
assert.deepEqual((await listed({})).ids, [1, 3]);

async function listed(query: Parameters<typeof client.list>[0]) {
  const { plants, total } = await client.list(query);
  return { ids: plants.map(({ id }) => id), total };
}
