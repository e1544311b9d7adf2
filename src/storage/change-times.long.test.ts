// Tests searches of the change log by time on both databases, with clocks that jump and nodes with different clocks.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { makeDatabase, needsPostgres, queryPostgres } from '../../testing/postgres.ts';
import { makeFolder, query } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import type { ChangePage, ChangePageQuery } from '../domain/change.ts';
import type { Store } from '../domain/store.ts';
import { openPostgresStore } from './postgres/store.ts';
import { openSqliteStore } from './sqlite/store.ts';

const [SECOND_MS, MINUTE_MS, DAY_MS] = [1000, 60_000, 86_400_000];
const START_MS = Date.parse('2026-11-19T12:00:00Z');
const BY = { tokenId: 'tok_1' };
const UPDATED = { type: 'plant.updated' } as const;
const PLANTS = 340;
/** The clock at each import of PLANTS plants, in ms after the start: it jumps, and two nodes differ by 40 s. */
const CLOCK_MS = [
  ...[0, 1, 2, 3, 4, 5].map((at) => at * MINUTE_MS),
  ...[2 * DAY_MS, 2 * DAY_MS + SECOND_MS, 6 * MINUTE_MS, -400 * DAY_MS, 7 * MINUTE_MS],
  ...[8, 9, 10, 11, 12, 13, 14].flatMap((at) => [at * MINUTE_MS, at * MINUTE_MS - 40 * SECOND_MS]),
];
const BLOCKS = 'SELECT count(*) AS blocks FROM change_times';
/** Number of imports before the clock jumps. */
const JUMP_AT = 6;
let nowMs = START_MS;
const options = { observe: () => {}, clock: () => nowMs };
/** All pages of each query, by database. */
const walks: ChangePage<number>[][][] = [];

for (const [database, open, needs] of [
  ['SQLite', openSqlite, {}],
  ['PostgreSQL', openPostgres, needsPostgres],
] as const) {
  suite(`the change log by time on ${database}`, needs, () => {
    let store: Store;
    const updates: { seq: number; timeMs: number }[] = [];
    before(async () => {
      const opened = await open();
      ({ store } = opened);
      for (const [at, clockMs] of CLOCK_MS.entries()) {
        nowMs = START_MS + clockMs;
        const plants = Array.from({ length: PLANTS }, (_, n) => ({ id: BigInt(at * PLANTS + n), name: 'x' }));
        await store.import(plants, BY);
        const { seq } = await store.patch(BigInt(at * PLANTS), { name: 'y' }, BY);
        updates.push({ seq, timeMs: nowMs });
      }
      await until(async () => Number(await opened.blocks()) >= 1);
    });
    after(() => store.close());

    test('every period is complete, whatever the clocks were', async () => {
      const walked: ChangePage<number>[][] = [];
      for (const { timeMs } of updates.filter((_, at) => at % 4 === 0)) {
        for (const query of periodsAt(timeMs)) {
          const { order, sinceMs = Number.NEGATIVE_INFINITY, untilMs = Number.POSITIVE_INFINITY } = query;
          const inPeriod = updates.filter((update) => update.timeMs >= sinceMs && update.timeMs <= untilMs);
          const expected = inPeriod.map(({ seq }) => seq);
          const pages = await walk(store, query);
          const found = pages.flatMap(({ changes }) => changes.map(({ seq }) => seq));
          assert.deepEqual(found, order === 'desc' ? expected.toReversed() : expected, JSON.stringify(query));
          walked.push(pages);
        }
      }
      walks.push(walked);
    });

    test('a period that ended long ago needs no page of the changes since then', async () => {
      const { changes } = await store.changePage({ ...UPDATED, untilMs: START_MS - 1, order: 'desc' });
      assert.equal(changes.length, 1);
      const none = await store.changePage({ untilMs: START_MS - 500 * DAY_MS });
      assert.deepEqual([none.changes, none.next], [[], undefined]);
    });

    test('numbers that leave no change between them leave none in a period', async () => {
      const last = await store.lastSeq();
      for (const [after, before] of [
        [last - 5, 3],
        [4, 5],
        [4, 4],
      ]) {
        const page = await store.changePage({ after, before, sinceMs: START_MS - 500 * DAY_MS });
        assert.deepEqual([page.changes, page.next], [[], undefined], `${after} to ${before}`);
      }
    });

    test('a prune keeps later periods complete', async () => {
      assert.equal(await store.pruneChanges(START_MS + DAY_MS), JUMP_AT * (PLANTS + 1));
      const pages = await walk(store, { ...UPDATED, untilMs: START_MS + DAY_MS });
      assert.equal(pages.flatMap(({ changes }) => changes).length, CLOCK_MS.length - JUMP_AT - 2);
    });
  });
}

test('both databases return the same pages', needsPostgres, () => {
  assert.equal(walks.length, 2);
  assert.deepEqual(walks[0], walks[1]);
});

function periodsAt(timeMs: number): ChangePageQuery[] {
  return [
    { ...UPDATED, sinceMs: timeMs },
    { ...UPDATED, untilMs: timeMs, order: 'desc' },
    { ...UPDATED, sinceMs: timeMs - SECOND_MS, untilMs: timeMs + MINUTE_MS, limit: 1 },
    { ...UPDATED, sinceMs: timeMs - MINUTE_MS, untilMs: timeMs, order: 'desc', limit: 1 },
  ];
}

async function walk(store: Store, wanted: ChangePageQuery): Promise<ChangePage<number>[]> {
  const pages = [await store.changePage(wanted)];
  for (let last = pages[0]; last?.next !== undefined; pages.push(last)) {
    const from = wanted.order === 'desc' ? { before: last.next } : { after: last.next };
    last = await store.changePage({ ...wanted, ...from });
  }
  return pages;
}

async function openSqlite() {
  const path = `${makeFolder()}/plants.db`;
  const store = await openSqliteStore({ ...options, path, role: 'server', onFailure: () => assert.fail() });
  return { store, blocks: async () => query(path, BLOCKS)[0]?.blocks };
}

async function openPostgres() {
  const url = await makeDatabase();
  const store = await openPostgresStore({ ...options, url, poolSize: 4, statementTimeoutMs: 10_000 });
  return { store, blocks: async () => (await queryPostgres(url, BLOCKS))[0]?.blocks };
}
