// Adds blocks of changes to `change_times`.

import { BLOCK_CHANGES } from '../change-times.ts';
import type { Tables } from './qualified-names.ts';

/** Returns the SQL that adds the oldest missing blocks. No change below the newest may be uncommitted. */
export function addChangeTimes({ changes, change_times }: Tables, limit: number | 'ALL' = 16 * BLOCK_CHANGES): string {
  return `
    INSERT INTO ${change_times} (first, last, earliest, latest)
    SELECT min(seq), max(seq), min(time), max(time) FROM (
      SELECT seq, time FROM ${changes}
      WHERE seq > coalesce((SELECT max(last) FROM ${change_times}), 0)
        AND seq < (SELECT max(seq) / ${BLOCK_CHANGES} * ${BLOCK_CHANGES} FROM ${changes})
      ORDER BY seq LIMIT ${limit}
    ) AS following GROUP BY seq / ${BLOCK_CHANGES}
    ON CONFLICT DO NOTHING`;
}
