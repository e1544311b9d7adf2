import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothStores } from '../../testing/both-databases.ts';
import type { NewPlant } from '../domain/plant.ts';

const BY = { tokenId: 'tok_1' };

onBothStores('a dry run', (open) => {
  test('compares each plant with the stored one, or else with the first of the file', async () => {
    const store = await open();
    await store.create({ id: 1n, name: 'Été', tag: '' }, BY);
    await store.create({ id: 2n, name: '' }, BY);
    const lastSeq = await store.lastSeq();
    const dry = store.openDryRun();
    const blocks: NewPlant[][] = [
      [
        { id: 1n, name: 'Été', tag: '' },
        { id: 1n, name: 'Été' },
        { id: 2n, name: '' },
        { id: 3n, name: 'new' },
      ],
      [
        { id: 3n, name: 'new' },
        { id: 3n, name: 'new', tag: '' },
        { id: -9223372036854775808n, name: 'E\u0301te\u0301' },
      ],
      [],
      [{ id: 1n, name: 'E\u0301te\u0301', tag: '' }],
    ];
    const results = await Promise.all(blocks.map((plants) => dry.import(plants)));
    dry.close();
    assert.deepEqual(
      results.map(({ created, replayed, errors }) => [created, replayed, ...errors.map(({ line }) => line)]),
      [
        [1, 2, 2],
        [1, 1, 2],
        [0, 0],
        [0, 0, 1],
      ],
    );
    assert.equal(await store.lastSeq(), lastSeq);
    await store.close();
  });
});
