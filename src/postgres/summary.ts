// The summary, of one moment, each part by one statement.

import { describeHours, firstHourMs, MAX_TAGS, type Summary, type TagCount } from '../summary.ts';
import { LAST_SEQ } from './read.ts';
import type { Transactions } from './transaction.ts';

/** Those without a tag come first, if there are any. */
const COUNT_TAGS = `
  SELECT tag, count(*) AS plants, (sum(count(*)) OVER ())::bigint AS total
  FROM plants GROUP BY tag
  ORDER BY tag IS NOT NULL, count(*) DESC, tag COLLATE "C" LIMIT ${MAX_TAGS + 1}`;

/** Times grow with numbers: the first change that is new enough is found by halves, without reading the others. */
const COUNT_CHANGES = `
  WITH RECURSIVE halves (low, high) AS (
    SELECT min(seq), max(seq) + 1 FROM changes
    UNION ALL
    SELECT CASE WHEN is_old THEN middle + 1 ELSE low END, CASE WHEN is_old THEN high ELSE middle END
    FROM (
      SELECT low, high, low + (high - low) / 2 AS middle,
        (SELECT time FROM changes WHERE seq >= low + (high - low) / 2 ORDER BY seq LIMIT 1) < $1 AS is_old
      FROM halves WHERE low < high
    ) AS halved
  )
  SELECT time / 3600000 AS hour, count(*) AS changes FROM changes
  WHERE seq >= (SELECT max(low) FROM halves) AND time >= $1 GROUP BY 1`;

export async function readSummary({ read }: Transactions, nowMs: number): Promise<Summary> {
  const [tagRows = [], hourRows = [], [numbering] = []] = await read(
    { text: COUNT_TAGS },
    { text: COUNT_CHANGES, values: [firstHourMs(nowMs)] },
    { text: LAST_SEQ },
  );
  const tags: TagCount[] = [];
  let untagged = 0;
  for (const { tag, plants } of tagRows as { tag: string | null; plants: bigint }[]) {
    if (tag === null) untagged = Number(plants);
    else if (tags.length < MAX_TAGS) tags.push({ tag, plants: Number(plants) });
  }
  return {
    plants: Number(tagRows[0]?.total ?? 0),
    untagged,
    tags,
    lastChange: Number(numbering?.seq ?? 0),
    changes: describeHours(new Map(hourRows.map(({ hour, changes }) => [Number(hour), Number(changes)]))),
  };
}
