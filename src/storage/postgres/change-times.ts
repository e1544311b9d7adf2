// Finds changes by their time with a binary search, because the times of changes follow their numbers.

import type { Tables } from './qualified-names.ts';

/** Returns the SQL that selects the number of the first change since time $1 as `seq`, or the number after the last. */
export function firstSeqSince({ changes }: Tables): string {
  return `
    WITH RECURSIVE halves (low, high) AS (
      SELECT min(seq), max(seq) + 1 FROM ${changes}
      UNION ALL
      SELECT CASE WHEN is_old THEN middle + 1 ELSE low END, CASE WHEN is_old THEN high ELSE middle END
      FROM (
        SELECT low, high, low + (high - low) / 2 AS middle,
          (SELECT time FROM ${changes} WHERE seq >= low + (high - low) / 2 ORDER BY seq LIMIT 1) < $1 AS is_old
        FROM halves WHERE low < high
      ) AS halved
    )
    SELECT max(low) AS seq FROM halves`;
}
