// What is in the store at a glance: how many plants, their tags, and how many changes there were in each hour.

import { z } from 'zod';
import { toIsoTime } from '../lib/iso-time.ts';
import { Time } from './time.ts';

const HOUR_MS = 3_600_000;
const HOURS = 30 * 24;
export const MAX_TAGS = 100;
/** What is longer is no tag to count by. */
export const MAX_TAG_BYTES = 1024;
/** Nor are so many: then none is told, and nobody's memory holds them. */
export const MAX_DIFFERENT_TAGS = 10_000;
const MAX_DIFFERENT_TAGS_TEXT = '10,000'; // the first toLocaleString() of a process takes 20 ms

const count = z.int().min(0);

export const Summary = z
  .object({
    plants: count.meta({ description: 'All there are' }),
    untagged: count.meta({ description: 'Those without a tag' }),
    tags: z.array(z.object({ tag: z.string(), plants: count })).meta({
      description: `The ${MAX_TAGS} tags that most plants have, most first. Not those over ${MAX_TAG_BYTES} bytes; none at all where there are more than ${MAX_DIFFERENT_TAGS_TEXT} different ones`,
    }),
    lastChange: z.number().meta({
      type: 'integer',
      format: 'int64',
      description:
        'Number of the last change, as in the ETag of an export: what comes after it is new. 0 before the first',
    }),
    changes: z.array(z.object({ hour: Time.meta({ description: 'When it began' }), changes: count })).meta({
      description: `Hours of the last ${HOURS / 24} days with changes that are still in the log, oldest first, by the clock of the server: where that was set back, some may be in another hour`,
    }),
  })
  .meta({ id: 'Summary' });
export type Summary = z.output<typeof Summary>;
export type TagCount = Summary['tags'][number];

/** When the first hour begins that a summary looks at. */
export function firstHourMs(nowMs: number): number {
  return (hourOf(nowMs) - HOURS + 1) * HOUR_MS;
}

/** Hours are counted from 1970. */
export function hourOf(timeMs: number): number {
  return Math.floor(timeMs / HOUR_MS);
}

export function describeHours(counts: Map<number, number>): Summary['changes'] {
  const byHour = [...counts].sort(([a], [b]) => a - b);
  return byHour.map(([hour, changes]) => ({ hour: toIsoTime(hour * HOUR_MS), changes }));
}

/** Most plants first, and then by the code points of the tag, as databases do. */
export function topTags(counts: Map<string, number>): TagCount[] {
  const tags = [...counts].map(([tag, plants]) => ({ tag, plants }));
  return tags.sort((a, b) => b.plants - a.plants || compareCodePoints(a.tag, b.tag)).slice(0, MAX_TAGS);
}

function compareCodePoints(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return rankOf(a.charCodeAt(at)) - rankOf(b.charCodeAt(at));
}

/** Surrogates stand for what comes after all other characters; the end, which is NaN, comes before them. */
function rankOf(unit: number): number {
  if (Number.isNaN(unit)) return -1;
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
