// Reads the summary of all plants from one consistent snapshot, with one statement for each part.

import type { ChangeType } from '../../domain/names.ts';
import {
  addToHour,
  describeHours,
  firstHourMs,
  type HourCounts,
  MAX_DIFFERENT_TAGS,
  MAX_LISTED_TAGS,
  MAX_TAG_BYTES,
  type Summary,
} from '../../domain/plant-summary.ts';
import { selectTimeRange, timeRangeValues } from '../change-times.ts';
import { lastSeq } from './change-log.ts';
import type { Tables } from './qualified-names.ts';
import type { Transactions } from './transaction.ts';

const countPlants = ({ plants }: Tables) =>
  `SELECT count(*) AS plants, count(*) FILTER (WHERE tag IS NULL) AS untagged FROM ${plants}`;

const countTags = ({ plants }: Tables) => `
  SELECT tag, plants, different FROM (
    SELECT tag, count(*) AS plants, count(*) OVER () AS different FROM ${plants}
    WHERE octet_length(tag) <= ${MAX_TAG_BYTES} GROUP BY tag
  ) AS counted
  ORDER BY plants DESC, tag COLLATE "C" LIMIT ${MAX_LISTED_TAGS}`;

const ALL_CHANGES = { after: 0, before: Number.MAX_SAFE_INTEGER };

/** Counts changes by hour and type. */
const countChanges = (tables: Tables) => `
  WITH recent AS (${selectTimeRange('$', tables)})
  SELECT time / 3600000 AS hour, type, count(*) AS changes FROM ${tables.changes}
  WHERE seq > (SELECT after FROM recent) AND time >= $1 GROUP BY 1, 2`;

export async function readSummary({ read, names: { tables } }: Transactions, nowMs: number): Promise<Summary> {
  const [[counted], tagRows, hourRows, [numbering]] = await read<
    [
      { plants: bigint; untagged: bigint },
      { tag: string; plants: bigint; different: bigint },
      { hour: bigint; type: ChangeType; changes: bigint },
      { seq: bigint },
    ]
  >(
    { text: countPlants(tables) },
    { text: countTags(tables) },
    { text: countChanges(tables), values: timeRangeValues({ sinceMs: firstHourMs(nowMs) }, ALL_CHANGES) },
    { text: lastSeq(tables) },
  );
  const hours: HourCounts = new Map();
  for (const { hour, type, changes } of hourRows) addToHour(hours, Number(hour), type, Number(changes));
  const areTooMany = Number(tagRows[0]?.different ?? 0) > MAX_DIFFERENT_TAGS;
  return {
    plants: Number(counted?.plants),
    untagged: Number(counted?.untagged),
    tags: areTooMany ? [] : tagRows.map(({ tag, plants }) => ({ tag, plants: Number(plants) })),
    lastChange: Number(numbering?.seq ?? 0),
    changes: describeHours(hours),
  };
}
