// Reads the summary of all plants from one consistent snapshot, with one statement for each part. It uses a connection of
// its own, because counting a large store takes minutes.

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
import { connectClient } from './connect.ts';
import type { PreparedDatabase } from './database.ts';
import { TransactionError } from './pg-errors.ts';
import type { Tables } from './qualified-names.ts';
import { beginRead, destroyWhenLate, limitsOf, type Query, queryClient, socketOf } from './transaction.ts';

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

/** Maximum time of each statement. */
const COUNT_TIMEOUT_MS = 10 * 60_000;

/** Counts the summary. Throws TransactionError. */
export async function readSummary(
  url: string,
  { names: { tables } }: PreparedDatabase,
  nowMs: number,
): Promise<Summary> {
  const client = await connectClient(url).catch((error) => {
    throw new TransactionError(error, false);
  });
  socketOf(client).unref(); // a count does not keep a stopping process alive
  const query: Query = (statement) => destroyWhenLate(client, queryClient(client, statement), 2 * COUNT_TIMEOUT_MS);
  try {
    await query({ text: beginRead(limitsOf(COUNT_TIMEOUT_MS)) });
    const [counted] = await query<{ plants: bigint; untagged: bigint }>({ text: countPlants(tables) });
    const tagRows = await query<{ tag: string; plants: bigint; different: bigint }>({ text: countTags(tables) });
    const values = timeRangeValues({ sinceMs: firstHourMs(nowMs) }, ALL_CHANGES);
    const hourRows = await query<{ hour: bigint; type: ChangeType; changes: bigint }>({
      text: countChanges(tables),
      values,
    });
    const [numbering] = await query<{ seq: bigint }>({ text: lastSeq(tables) });
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
  } finally {
    client.end().catch(() => {});
  }
}
