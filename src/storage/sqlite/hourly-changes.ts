// Counts changes by hour and type. It remembers the counts up to a change number, so that a count reads only newer
// changes. It starts over after a prune.

import type { DatabaseSync } from 'node:sqlite';
import type { ChangeType } from '../../domain/names.ts';
import { addToHour, firstHourMs, type HourCounts, hourOf } from '../../domain/plant-summary.ts';
import { selectTimeRange, timeRangeValues } from '../change-times.ts';
import { prepareLastSeq } from './change-numbers.ts';

/** Number of changes in a slice, which takes less than 1 ms. */
const SLICE_CHANGES = 1000;

/** Counts of the changes with a number up to `upTo`. */
interface Counted {
  sinceMs: number;
  prunedTo: number;
  upTo: number;
  hours: HourCounts;
}

export type HourlyChanges = ReturnType<typeof createHourlyChanges>;

export function createHourlyChanges() {
  let remembered: Counted | undefined;

  /** Counts the changes in the snapshot of `db`, from the first hour of a summary at `nowMs`. */
  return async (db: DatabaseSync, nowMs: number, pauseWhenDue: () => Promise<void>): Promise<HourCounts> => {
    const sinceMs = firstHourMs(nowMs);
    const { pruned_to } = db.prepare('SELECT pruned_to FROM numbering').get() as { pruned_to: number };
    const isValid = remembered && remembered.prunedTo === pruned_to && remembered.sinceMs <= sinceMs;
    const { upTo, hours } = (isValid && remembered) || { upTo: seqBefore(db, sinceMs), hours: new Map() };
    const recent: HourCounts = new Map();
    for (const [hour, counts] of hours) if (hour >= hourOf(sinceMs)) recent.set(hour, { ...counts });
    const counted = {
      sinceMs,
      prunedTo: pruned_to,
      hours: recent,
      upTo: await countAfter(db, upTo, recent, pauseWhenDue),
    };
    if (!remembered || remembered.upTo <= counted.upTo || remembered.prunedTo < pruned_to) remembered = counted;
    return new Map([...recent].filter(([hour]) => hour >= hourOf(sinceMs))); // a change can be older than its predecessor
  };
}

/** Returns the number before the first change since a time. */
function seqBefore(db: DatabaseSync, sinceMs: number): number {
  const all = { after: 0, before: prepareLastSeq(db)() + 1 };
  return (db.prepare(selectTimeRange('?')).get(...timeRangeValues({ sinceMs }, all)) as { after: number }).after;
}

/** Adds the changes after number `after`. Returns the number of the last one. */
async function countAfter(
  db: DatabaseSync,
  after: number,
  hours: HourCounts,
  pauseWhenDue: () => Promise<void>,
): Promise<number> {
  const changes = `SELECT seq, time / 3600000 AS hour, type FROM changes WHERE seq > ? ORDER BY seq LIMIT ${SLICE_CHANGES}`;
  const total = db.prepare(`
    SELECT count(*) AS changes, max(seq) AS last, min(hour) AS hour, max(hour) AS lastHour,
      total(type = 'plant.created') AS created, total(type = 'plant.deleted') AS deleted
    FROM (${changes})`);
  const byHour = db.prepare(`SELECT hour, type, count(*) AS changes FROM (${changes}) GROUP BY 1, 2`);
  for (let upTo = after; ; await pauseWhenDue()) {
    const { changes, last, hour, lastHour, created, deleted } = total.get(upTo) as Slice;
    if (last === null) return upTo;
    if (hour === lastHour) {
      addToHour(hours, hour, 'plant.created', created);
      addToHour(hours, hour, 'plant.deleted', deleted);
      addToHour(hours, hour, 'plant.updated', changes - created - deleted);
    } else {
      // Grouping takes twice as long, but few slices have changes of two hours.
      const rows = byHour.all(upTo) as { hour: number; type: ChangeType; changes: number }[];
      for (const { hour, type, changes } of rows) addToHour(hours, hour, type, changes);
    }
    if (changes < SLICE_CHANGES) return last;
    upTo = last;
  }
}

type Slice = Record<'changes' | 'hour' | 'lastHour' | 'created' | 'deleted', number> & { last: number | null };
