// The summary of the store: the number of plants, the most common tags, and the changes per hour.

import { z } from 'zod';
import { compareCodePoints } from '../lib/code-points.ts';
import { toIsoTime } from '../lib/iso-time.ts';
import type { ChangeType } from './names.ts';
import { Time } from './time.ts';

const HOUR_MS = 3_600_000;
const HOURS = 30 * 24;
/** Number of tags that the summary lists. */
export const MAX_LISTED_TAGS = 100;
/** Maximum length of a counted tag. */
export const MAX_TAG_BYTES = 1024;
/** Maximum number of different tags. Above it the summary lists no tags, which bounds its memory. */
export const MAX_DIFFERENT_TAGS = 10_000;
const MAX_DIFFERENT_TAGS_TEXT = '10,000'; // because the first toLocaleString() of a process takes 20 ms

const count = z
  .int()
  .min(0)
  .meta({ examples: [12] });

export const Summary = z
  .object({
    plants: count.meta({ description: 'Number of plants in the store', examples: [957] }),
    untagged: count.meta({ description: 'Number of plants without a tag' }),
    tags: z
      .array(
        z.object({
          tag: z.string().meta({ description: 'The tag', examples: ['tropical'] }),
          plants: count.meta({ description: 'Number of plants with this tag' }),
        }),
      )
      .meta({
        description: `The ${MAX_LISTED_TAGS} most common tags, most common first. Tags over ${MAX_TAG_BYTES} bytes are not listed. The list is empty if the store has more than ${MAX_DIFFERENT_TAGS_TEXT} different tags.`,
      }),
    lastChange: z.number().meta({
      type: 'integer',
      format: 'int64',
      description:
        'Number of the last change included in the counts, like the `ETag` of an export. It is 0 before the first change.',
      examples: [1042],
    }),
    changes: z
      .array(
        z.object({
          hour: Time.meta({ description: 'Start of the hour (RFC 3339, UTC)', examples: ['2026-11-17T09:00:00.000Z'] }),
          changes: count.meta({ description: 'Number of changes in this hour' }),
          created: count.meta({ description: 'Number of plants created in this hour' }),
          updated: count.meta({ description: 'Number of updates in this hour' }),
          deleted: count.meta({ description: 'Number of plants deleted in this hour' }),
        }),
      )
      .meta({
        description: `Changes per hour for the last ${HOURS / 24} days, oldest first. Hours without changes and pruned changes are left out. Hours follow the server clock. If the clock was set back, a change can appear in another hour.`,
      }),
  })
  .meta({ id: 'Summary', description: 'Counts of plants, tags and changes' });
export type Summary = z.output<typeof Summary>;
export type TagCount = Summary['tags'][number];

/** Returns the start of the first hour that a summary covers. */
export function firstHourMs(nowMs: number): number {
  return (hourOf(nowMs) - HOURS + 1) * HOUR_MS;
}

/** Returns the number of full hours since 1970. */
export function hourOf(timeMs: number): number {
  return Math.floor(timeMs / HOUR_MS);
}

/** Counts of changes by hour, as `hourOf` numbers them. */
export type HourCounts = Map<number, { created: number; updated: number; deleted: number }>;

const FIELDS = { 'plant.created': 'created', 'plant.updated': 'updated', 'plant.deleted': 'deleted' } as const;

export function addToHour(hours: HourCounts, hour: number, type: ChangeType, changes: number): void {
  const counts = hours.get(hour) ?? { created: 0, updated: 0, deleted: 0 };
  counts[FIELDS[type]] += changes;
  hours.set(hour, counts);
}

export function describeHours(hours: HourCounts): Summary['changes'] {
  const byHour = [...hours].sort(([a], [b]) => a - b);
  return byHour.map(([hour, { created, updated, deleted }]) => ({
    hour: toIsoTime(hour * HOUR_MS),
    changes: created + updated + deleted,
    created,
    updated,
    deleted,
  }));
}

/** Returns the most common tags. Ties are ordered by the code points of the tag, as in the databases. */
export function topTags(counts: Map<string, number>): TagCount[] {
  const tags = [...counts].map(([tag, plants]) => ({ tag, plants }));
  return tags.sort((a, b) => b.plants - a.plants || compareCodePoints(a.tag, b.tag)).slice(0, MAX_LISTED_TAGS);
}
