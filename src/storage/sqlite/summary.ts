// The summary of a consistent snapshot, on a connection of its own: counted in slices, between which other work runs.

import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { unavailable } from '../../domain/errors.ts';
import { MAX_ID, MIN_ID } from '../../domain/plant.ts';
import {
  describeHours,
  firstHourMs,
  hourOf,
  MAX_DIFFERENT_TAGS,
  MAX_TAG_BYTES,
  type Summary,
  topTags,
} from '../../domain/plant-summary.ts';
import { openReadSnapshot } from './read-snapshot.ts';

/** So few that the longest of names, behind which tags are, take no more than some milliseconds. */
const SLICE_PLANTS = 250;
/** After so long others get their turn. */
const TURN_MS = 2;

export function createSummaries(path: string, clock: () => number) {
  const counting = new Set<Promise<Summary>>();
  const closing = new AbortController();
  return {
    /** Throws `unavailable` when the store is closed meanwhile. */
    read(): Promise<Summary> {
      const summary = readSummary(path, clock(), closing.signal);
      counting.add(summary);
      return summary.finally(() => counting.delete(summary));
    },
    /** Ends those that are being counted. Returns undefined if there are none. */
    close(): Promise<unknown> | undefined {
      closing.abort(unavailable('The service is stopping'));
      return counting.size > 0 ? Promise.allSettled(counting) : undefined;
    },
  };
}

type Breathe = () => Promise<void>;

/** Throws the signal's reason when that aborts. */
async function readSummary(path: string, nowMs: number, signal: AbortSignal): Promise<Summary> {
  const { db, seq: lastChange } = openReadSnapshot(path);
  const breathe = createBreathe(signal);
  try {
    const changes = await countChanges(db, firstHourMs(nowMs), breathe);
    return { ...(await countPlants(db, breathe)), lastChange, changes };
  } finally {
    db.close();
  }
}

function createBreathe(signal: AbortSignal): Breathe {
  let sinceMs = performance.now();
  return async () => {
    if (performance.now() - sinceMs < TURN_MS) return;
    await nextTurn();
    signal.throwIfAborted();
    sinceMs = performance.now();
  };
}

/** As JSON, tags come four times as quickly as in rows, and grouping them here is quicker than there. 0 is a long one. */
async function countPlants(db: DatabaseSync, breathe: Breathe): Promise<Pick<Summary, 'plants' | 'untagged' | 'tags'>> {
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
    await breathe();
  }
  return { plants, untagged, tags: counts ? topTags(counts) : [] };
}

type Stretch = { first: number; last: number };

/**
 * Times grow with numbers, and these have no gaps but those that a restore made: what begins and ends in the same hour
 * need not be looked at in between.
 */
async function countChanges(db: DatabaseSync, sinceMs: number, breathe: Breathe): Promise<Summary['changes']> {
  const firstFrom = db.prepare('SELECT seq, time FROM changes WHERE seq >= ? ORDER BY seq LIMIT 1');
  const timeFrom = (seq: number) =>
    (firstFrom.get(seq) as { time: number } | undefined)?.time ?? Number.POSITIVE_INFINITY;
  const counts = new Map<number, number>();
  const stretches = stretchesOf(db).flatMap(({ first, last }) => {
    const begin = bisect(first, last + 1, (seq) => timeFrom(seq) >= sinceMs);
    return begin > last ? [] : [{ first: begin, last }];
  });
  for (let stretch = stretches.pop(); stretch; stretch = stretches.pop()) {
    const { first, last } = stretch;
    const hour = hourOf(timeFrom(first));
    if (hour === hourOf(timeFrom(last))) {
      counts.set(hour, (counts.get(hour) ?? 0) + last - first + 1);
      continue;
    }
    const middle = first + Math.floor((last - first) / 2);
    stretches.push({ first, last: middle }, { first: middle + 1, last });
    await breathe();
  }
  return describeHours(counts);
}

/** Of numbers without a gap. */
function stretchesOf(db: DatabaseSync): Stretch[] {
  const ends = db.prepare('SELECT (SELECT min(seq) FROM changes) AS first, (SELECT max(seq) FROM changes) AS last');
  const { first, last } = ends.get() as { first: number | null; last: number | null };
  if (first === null || last === null) return [];
  const skipped = db.prepare('SELECT first, last FROM skipped ORDER BY first').all() as Stretch[];
  const stretches: Stretch[] = [];
  let from = first;
  for (const gap of skipped) {
    if (gap.last < from || gap.first > last) continue;
    if (gap.first > from) stretches.push({ first: from, last: gap.first - 1 });
    from = gap.last + 1;
  }
  if (from <= last) stretches.push({ first: from, last });
  return stretches;
}

/** The first from which on it holds; `end` if it never does. */
function bisect(begin: number, end: number, holds: (at: number) => boolean): number {
  let [low, high] = [begin, end];
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2); // their sum may be above 2^53
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
