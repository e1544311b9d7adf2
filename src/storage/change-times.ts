// Finds changes by their time. Times follow the numbers of changes only until a clock is set back, or a node has another
// clock. So the table `change_times` has the earliest and the latest time of each block of changes (decision 61).

import type { ChangePageQuery } from '../domain/change.ts';

/** Number of changes from which the newest changes become a block. */
export const BLOCK_CHANGES = 4096;
/**
 * Maximum number of blocks in which a page looks for the first change of a period, and for the last one. A block with
 * earlier and later times may have none. After that many, the page is empty, and the next one continues.
 */
const SEARCHED_BLOCKS = 4;

/** A range of change numbers, both ends excluded. */
export interface ChangeRange {
  after: number;
  before: number;
}

export function isEmpty({ after, before }: ChangeRange): boolean {
  return after + 1 >= before;
}

/** Returns the SQL that selects the part of a range from the first to the last change of a period. The range must not be empty. */
export function selectTimeRange(
  mark: '?' | '$',
  { changes, change_times } = { changes: 'changes', change_times: 'change_times' },
): string {
  const [since, until, after, before] = [1, 2, 3, 4].map((n) => mark + n);
  const searched = (order: 'ASC' | 'DESC') => `
    SELECT first, last, (
      SELECT seq FROM ${changes} WHERE seq >= first AND seq <= last AND seq > ${after} AND seq < ${before}
        AND time >= ${since} AND time <= ${until} ORDER BY seq ${order} LIMIT 1
    ) AS hit FROM blocks ORDER BY last ${order} LIMIT ${SEARCHED_BLOCKS}`;
  return `
    WITH blocks AS (
      SELECT first, last FROM (
        SELECT first, last, earliest, latest FROM ${change_times}
        UNION ALL
        SELECT min(seq), max(seq), min(time), max(time) FROM ${changes}
        WHERE seq > coalesce((SELECT max(last) FROM ${change_times}), 0)
      ) AS every WHERE latest >= ${since} AND earliest <= ${until} AND last > ${after} AND first < ${before}
    )
    SELECT (SELECT coalesce(min(hit) - 1, max(last), ${before} - 1) FROM (${searched('ASC')}) AS oldest) AS after,
      (SELECT coalesce(max(hit) + 1, min(first), ${after} + 1) FROM (${searched('DESC')}) AS newest) AS before`;
}

/** Returns the parameters of `selectTimeRange`. */
export function timeRangeValues({ sinceMs, untilMs }: ChangePageQuery, { after, before }: ChangeRange): number[] {
  return [sinceMs ?? Number.MIN_SAFE_INTEGER, untilMs ?? Number.MAX_SAFE_INTEGER, after, before];
}
