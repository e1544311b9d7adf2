import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { onBothStores } from '../../testing/both-databases.ts';
import { quickEnough } from '../../testing/until.ts';

const BY = { tokenId: 'tok_1' };

onBothStores('a dry run', (open) => {
  test('of many short lines for long stored plants does not hold up other requests', async () => {
    const store = await open();
    const ids = Array.from({ length: 1000 }, (_, at) => BigInt(at));
    const name = 'é'.repeat(30_000);
    for (let at = 0; at < 1000; at += 250) {
      await store.import(
        ids.slice(at, at + 250).map((id) => ({ id, name: `${id} ${name}` })),
        BY,
      );
    }
    const dryRuns = [1, 2, 3, 4].map(() => store.openDryRun());
    await quickEnough(100, async () => {
      const delay = monitorEventLoopDelay({ resolution: 5 });
      delay.enable();
      await sleep(20); // it measures from its first tick to its last
      const results = await Promise.all(dryRuns.map((dry) => dry.import(ids.map((id) => ({ id, name: 'x' })))));
      await sleep(20);
      delay.disable();
      for (const { failed } of results) assert.equal(failed, 1000);
      return delay.max / 1e6;
    });
    for (const dry of dryRuns) dry.close();
    await store.close();
  });
});
