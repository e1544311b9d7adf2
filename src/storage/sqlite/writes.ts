// Defines all writes as data that can be sent to the writer thread, and dispatches them there.

import type { DatabaseSync } from 'node:sqlite';
import { PRUNED_AT_ONCE } from '../write-limits.ts';
import type { Authorship, PlantWrite, Rejection, Results } from '../write-rules.ts';
import { prepareLastSeq, preparePlantCount } from './change-numbers.ts';
import { prepareChangeTimes } from './change-times.ts';
import { type Imported, type ImportImage, importPlants } from './import-image.ts';
import { prepareOrderNames } from './name-order.ts';
import { preparePlantWrites } from './plants-write.ts';
import type { Vocabulary } from './search-words.ts';
import { prepareTokenWrites, type TokenResults, type TokenWrite } from './tokens.ts';
import { IS_WAITING, prepareWebhookWrites, type WebhookResults, type WebhookWrite } from './webhooks-write.ts';

export type Write =
  | PlantWrite
  /** The plants of an import. This is the only write in its transaction. */
  | ({ kind: 'create_plants'; image: ImportImage } & Authorship)
  | { kind: 'prune_changes'; beforeMs: number }
  /** Adds the names of some changes to the table name_order. */
  | { kind: 'order_names'; atMost: number }
  | TokenWrite
  | WebhookWrite
  /** Changes no data, but requires a real commit. */
  | { kind: 'probe' };

interface AllResults extends Results, TokenResults, WebhookResults {
  create_plants: Imported;
  prune_changes: number;
  order_names: null;
  probe: null;
}
export type Done<W extends Write> = AllResults[W['kind']];

/** Result of a write. A rejected write does not affect the other writes in its transaction. */
export type WriteResult = { done: AllResults[keyof AllResults] } | Rejection;

/**
 * Returns a function that applies a batch in order, in the caller's transaction. The caller owns the vocabulary,
 * because an import finalizes the statements, and resets it after a transaction that failed.
 */
export function prepareWrites(db: DatabaseSync, vocabulary: Vocabulary): (batch: Write[]) => WriteResult[] {
  const lastSeq = prepareLastSeq(db);
  const plantCount = preparePlantCount(db);
  const plants = preparePlantWrites(db, vocabulary);
  const times = prepareChangeTimes(db);
  const prune = preparePrune(db);
  const orderNames = prepareOrderNames(db, lastSeq);
  const writeToken = prepareTokenWrites(db);
  const writeWebhook = prepareWebhookWrites(db);
  const { user_version } = db.prepare('PRAGMA user_version').get() as { user_version: bigint };

  return (batch) => {
    const seq = lastSeq();
    times.begin(seq, batch);
    plants.begin(seq, plantCount());
    const results = batch.map(apply);
    times.end(batch[0]?.kind === 'create_plants' ? lastSeq() : plants.end());
    return results;
  };

  function apply(write: Write): WriteResult {
    switch (write.kind) {
      case 'create':
      case 'put':
      case 'patch':
      case 'delete':
        return plants.write(write);
      case 'create_plants':
        return { done: importPlants(db, write.image, { ...write, firstSeq: lastSeq() + 1, plantCount: plantCount() }) };
      case 'prune_changes':
        return { done: prune(write.beforeMs) };
      case 'order_names':
        orderNames(write.atMost);
        return { done: null };
      case 'add_token':
      case 'revoke_token':
      case 'rotate_token':
      case 'update_token':
      case 'note_use':
        return writeToken(write);
      case 'probe':
        db.exec(`PRAGMA user_version = ${user_version}`);
        return { done: null };
      default:
        return writeWebhook(write);
    }
  }
}

/** Returns a function that prunes up to PRUNED_AT_ONCE changes older than `beforeMs` and returns their number. */
function preparePrune(db: DatabaseSync): (beforeMs: number) => number {
  const oldestChanges = db.prepare(`SELECT seq, time FROM changes ORDER BY seq LIMIT ${PRUNED_AT_ONCE}`);
  const deleteChanges = db.prepare('DELETE FROM changes WHERE seq <= ?');
  const deleteTimes = db.prepare('DELETE FROM change_times WHERE last <= ?');
  const deleteDeliveries = db.prepare(
    'DELETE FROM deliveries WHERE webhook_id IN (SELECT id FROM webhooks) AND seq <= ?', // the IN uses the primary key
  );
  /** Last change that no webhook still has to receive, and whose name is in name_order. Later changes are kept. */
  const lastPrunable = db.prepare(`
    SELECT min(w.position, coalesce(
      (SELECT min(d.seq) - 1 FROM deliveries d WHERE d.webhook_id = w.id AND ${IS_WAITING}), w.position
    )) AS seq FROM webhooks w WHERE w.disabled IS NULL UNION ALL SELECT names_to FROM numbering ORDER BY 1 LIMIT 1`);
  const setPrunedTo = db.prepare('UPDATE numbering SET pruned_to = max(pruned_to, ?)');
  const keepCount = db.prepare(`
    UPDATE numbering SET plant_count = coalesce((SELECT plant_count FROM changes WHERE seq = ?), plant_count)`);

  return (beforeMs) => {
    const oldest = oldestChanges.all() as { seq: bigint; time: bigint }[];
    const { seq: last = oldest.at(-1)?.seq ?? 0n } = (lastPrunable.get() ?? {}) as { seq?: bigint };
    const firstKept = oldest.findIndex(({ seq, time }) => time >= beforeMs || seq > last);
    const pruned = firstKept === -1 ? oldest.length : firstKept;
    const end = oldest[pruned - 1];
    if (end) {
      keepCount.run(end.seq);
      deleteChanges.run(end.seq);
      deleteTimes.run(end.seq);
      deleteDeliveries.run(end.seq);
      setPrunedTo.run(end.seq);
    }
    return pruned;
  };
}
