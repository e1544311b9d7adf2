// Computes the summary from a consistent snapshot on its own connection. Other work runs between slices of the count.

import type { DatabaseSync } from 'node:sqlite';
import { unavailable } from '../../domain/errors.ts';
import { MAX_ID, MIN_ID } from '../../domain/plant.ts';
import { describeHours, MAX_DIFFERENT_TAGS, MAX_TAG_BYTES, type Summary, topTags } from '../../domain/plant-summary.ts';
import { createPace } from '../../lib/event-loop-turns.ts';
import { createHourlyChanges, type HourlyChanges } from './hourly-changes.ts';
import { openReadSnapshot } from './read-snapshot.ts';

/** Number of plants in a slice. Even with the longest names, which precede tags in a row, it takes only some ms. */
const SLICE_PLANTS = 250;

export function createSummaries(path: string, clock: () => number) {
  const counting = new Set<Promise<Summary>>();
  const countChanges = createHourlyChanges();
  const closing = new AbortController();
  return {
    /** Returns the summary. Throws `unavailable` if the store is closed during the count. */
    read(): Promise<Summary> {
      const summary = readSummary(path, clock(), closing.signal, countChanges);
      counting.add(summary);
      return summary.finally(() => counting.delete(summary));
    },
    /** Aborts all counts in progress. */
    async close(): Promise<void> {
      closing.abort(unavailable('The service is stopping. Retry later.'));
      await Promise.allSettled(counting);
    },
  };
}

type Pause = () => Promise<void>;

/** Counts the summary. Throws the signal's reason if the signal aborts. */
async function readSummary(
  path: string,
  nowMs: number,
  signal: AbortSignal,
  countChanges: HourlyChanges,
): Promise<Summary> {
  const { db, seq: lastChange } = openReadSnapshot(path);
  const pauseWhenDue = createPause(signal);
  try {
    const changes = describeHours(await countChanges(db, nowMs, pauseWhenDue));
    return { ...(await countPlants(db, pauseWhenDue)), lastChange, changes };
  } finally {
    db.close();
  }
}

/** Returns a function that lets other work run between two slices. It throws the signal's reason if the signal aborts. */
function createPause(signal: AbortSignal): Pause {
  const pace = createPace();
  return async () => {
    await pace();
    signal.throwIfAborted();
  };
}

/**
 * Counts plants and their tags. Reading tags as JSON is four times as fast as reading rows, and grouping them here is
 * faster than in SQL. 0 stands for a tag longer than MAX_TAG_BYTES.
 */
async function countPlants(
  db: DatabaseSync,
  pauseWhenDue: Pause,
): Promise<Pick<Summary, 'plants' | 'untagged' | 'tags'>> {
  const slice = db.prepare(`
    SELECT json_group_array(iif(octet_length(tag) > ${MAX_TAG_BYTES}, 0, tag)) AS tags, max(id) AS last
    FROM (SELECT id, tag FROM plants WHERE id >= ? ORDER BY id LIMIT ${SLICE_PLANTS})`);
  slice.setReadBigInts(true);
  let counts: Map<string, number> | undefined = new Map();
  let plants = 0;
  let untagged = 0;
  for (let from = MIN_ID; ; from++) {
    const { tags, last } = slice.get(from) as { tags: string; last: bigint | null };
    const read = JSON.parse(tags) as (string | null | 0)[];
    for (const tag of read) {
      if (tag === null) untagged++;
      else if (tag !== 0) counts?.set(tag, (counts.get(tag) ?? 0) + 1);
    }
    plants += read.length;
    if (counts && counts.size > MAX_DIFFERENT_TAGS) counts = undefined;
    if (last === null || last === MAX_ID || read.length < SLICE_PLANTS) break;
    from = last;
    await pauseWhenDue();
  }
  return { plants, untagged, tags: counts ? topTags(counts) : [] };
}
