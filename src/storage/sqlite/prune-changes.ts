// The oldest changes are removed, with the deliveries of them.

import type { DatabaseSync } from 'node:sqlite';
import { PRUNED_AT_ONCE } from '../write-limits.ts';
import { IS_WAITING } from './webhooks-write.ts';

export interface Pruned {
  pruned: number;
  /** True if there may be more to prune. */
  more: boolean;
}

/** Returns a function that prunes up to PRUNED_AT_ONCE changes that are older than `beforeMs`. */
export function preparePrune(db: DatabaseSync): (beforeMs: number) => Pruned {
  const oldestChanges = db.prepare(`SELECT seq, time FROM changes ORDER BY seq LIMIT ${PRUNED_AT_ONCE}`);
  const deleteChanges = db.prepare('DELETE FROM changes WHERE seq <= ?');
  const deleteDeliveries = db.prepare(
    'DELETE FROM deliveries WHERE webhook_id IN (SELECT id FROM webhooks) AND seq <= ?', // the IN uses the primary key
  );
  /** Changes that a webhook still has to receive are kept. */
  const lastPrunable = db.prepare(`
    SELECT min(w.position, coalesce(
      (SELECT min(d.seq) - 1 FROM deliveries d WHERE d.webhook_id = w.id AND ${IS_WAITING}), w.position
    )) AS seq FROM webhooks w WHERE w.disabled IS NULL ORDER BY 1 LIMIT 1`);
  const setPrunedTo = db.prepare('UPDATE numbering SET pruned_to = max(pruned_to, ?)');

  return (beforeMs) => {
    const oldest = oldestChanges.all() as { seq: bigint; time: bigint }[];
    const { seq: last = oldest.at(-1)?.seq ?? 0n } = (lastPrunable.get() ?? {}) as { seq?: bigint };
    const firstKept = oldest.findIndex(({ seq, time }) => time >= beforeMs || seq > last);
    const pruned = firstKept === -1 ? oldest.length : firstKept;
    const end = oldest[pruned - 1];
    if (end) {
      deleteChanges.run(end.seq);
      deleteDeliveries.run(end.seq);
      setPrunedTo.run(end.seq);
    }
    return { pruned, more: pruned === PRUNED_AT_ONCE };
  };
}
