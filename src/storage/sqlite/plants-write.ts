// Every write there is, as data that can cross to the writer's thread, and its SQL.

import type { DatabaseSync } from 'node:sqlite';
import type { ChangeType } from '../../domain/names.ts';
import type { Plant } from '../../domain/plant.ts';
import type { PlantRow } from '../row-mapping.ts';
import {
  type Authorship,
  actionOf,
  nextRow,
  type PlantWrite,
  type Rejection,
  type Results,
  resultOf,
} from '../write-rules.ts';
import { prepareLastSeq } from './change-numbers.ts';
import { type Image, type Imported, storeBatch } from './import-image.ts';
import { indexText } from './search.ts';
import { prepareTokenWrites, type TokenResults, type TokenWrite } from './tokens-write.ts';
import { prepareDictionary } from './unused-words.ts';
import { prepareWebhookWrites, type WebhookResults, type WebhookWrite } from './webhooks-write.ts';

/** So many changes are removed in one transaction. */
const PRUNED_AT_ONCE = 10_000;

export type Write =
  | PlantWrite
  /** As batch.ts packed them. It is the only write in its transaction. */
  | ({ kind: 'create_plants'; image: Image } & Authorship)
  | { kind: 'prune_changes'; beforeMs: number }
  | TokenWrite
  | WebhookWrite
  /** Changes nothing, yet takes a real commit. */
  | { kind: 'probe' };

interface AllResults extends Results, TokenResults, WebhookResults {
  create_plants: Imported;
  /** How many, and if there may be more. */
  prune_changes: { pruned: number; more: boolean };
  probe: null;
}
export type Done<W extends Write> = AllResults[W['kind']];

/** The others in its transaction are not touched by one that is refused. */
export type WriteResult = { done: AllResults[keyof AllResults] } | Rejection;

/** Gives a function that applies a batch in order. The caller holds the transaction. */
export function prepareWrites(db: DatabaseSync): (batch: Write[]) => WriteResult[] {
  const lastSeq = prepareLastSeq(db);
  const findPlant = db.prepare('SELECT name, tag, created, updated, seq FROM plants WHERE id = ?');
  const insertPlant = db.prepare(
    'INSERT INTO plants (id, name, tag, created, updated, seq) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const updatePlant = db.prepare('UPDATE plants SET name = ?, tag = ?, updated = ?, seq = ? WHERE id = ?');
  const deletePlant = db.prepare('DELETE FROM plants WHERE id = ?');
  const insertChange = db.prepare(
    'INSERT INTO changes (seq, type, time, plant_id, name, tag, token_id) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const oldestChanges = db.prepare(`SELECT seq, time FROM changes ORDER BY seq LIMIT ${PRUNED_AT_ONCE}`);
  const deleteChanges = db.prepare('DELETE FROM changes WHERE seq <= ?');
  const deleteDeliveries = db.prepare(
    'DELETE FROM deliveries WHERE webhook_id IN (SELECT id FROM webhooks) AND seq <= ?',
  );
  /** What a webhook still has to be given stays. */
  const lastPrunable = db.prepare(`
    SELECT min(w.position, coalesce(
      (SELECT min(d.seq) - 1 FROM deliveries d WHERE d.webhook_id = w.id AND d.status <> 'delivered' AND d.status = 'waiting'),
      w.position
    )) AS seq FROM webhooks w WHERE w.disabled IS NULL ORDER BY 1 LIMIT 1`);
  const setPrunedTo = db.prepare('UPDATE numbering SET pruned_to = max(pruned_to, ?)');
  const insertWords = db.prepare('INSERT INTO words (rowid, text) VALUES (?, ?)');
  const deleteWords = db.prepare(`INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)`);
  const dictionary = prepareDictionary(db);
  const writeToken = prepareTokenWrites(db);
  const writeWebhook = prepareWebhookWrites(db);
  const version = (db.prepare('PRAGMA user_version').get() as { user_version: bigint }).user_version;
  const rewriteVersion = `PRAGMA user_version = ${version}`;

  let seq = 0;
  /** What the index holds of a plant, and what it should. */
  const reindexed = new Map<bigint, { before: string | undefined; after: string | undefined }>();
  return (batch) => {
    seq = lastSeq();
    reindexed.clear();
    const results = batch.map(apply);
    writeIndex();
    dictionary.write();
    return results;
  };

  function apply(write: Write): WriteResult {
    switch (write.kind) {
      case 'create':
      case 'put':
      case 'patch':
      case 'delete':
        return writePlant(write);
      case 'create_plants':
        return { done: storeBatch(db, write.image, { ...write, firstSeq: seq + 1 }) };
      case 'prune_changes':
        return { done: pruneChanges(write.beforeMs) };
      case 'add_token':
      case 'revoke_token':
      case 'rotate_token':
      case 'note_use':
        return writeToken(write);
      case 'probe':
        db.exec(rewriteVersion);
        return { done: null };
      default:
        return writeWebhook(write);
    }
  }

  function writePlant(write: PlantWrite): WriteResult {
    // Nearly always the id is free: only when it is not is it worth looking at what is there.
    if (write.kind === 'create' && insert(write.id, write.plant, write)) return { done: { seq, replayed: false } };
    const { id } = write;
    const present = findPlant.get(id) as PlantRow | undefined;
    const action = actionOf(write, present);
    switch (action.does) {
      case 'reject':
        return action;
      case 'keep':
        return { done: resultOf(write, present as PlantRow, true) };
      case 'delete':
        deletePlant.run(id);
        recordChange('plant.deleted', id, present as PlantRow, write);
        reindex(id, present, undefined);
        return { done: null };
      case 'store': {
        if (present) update(id, present, action.plant, write);
        else insert(id, action.plant, write);
        return { done: resultOf(write, nextRow(write, present, action.plant, seq), false) };
      }
    }
  }

  /** False when the id is taken. */
  function insert(id: bigint, plant: Plant, by: Authorship): boolean {
    if (insertPlant.run(id, plant.name, plant.tag ?? null, by.nowMs, by.nowMs, seq + 1).changes !== 1n) return false;
    recordChange('plant.created', id, plant, by);
    reindex(id, undefined, plant);
    return true;
  }

  function update(id: bigint, present: PlantRow, plant: Plant, by: Authorship): void {
    updatePlant.run(plant.name, plant.tag ?? null, by.nowMs, seq + 1, id);
    recordChange('plant.updated', id, plant, by);
    reindex(id, present, plant);
  }

  function recordChange(type: ChangeType, id: bigint, { name, tag }: IndexedPlant, by: Authorship): void {
    insertChange.run(++seq, type, by.nowMs, id, name, tag ?? null, by.tokenId);
  }

  function reindex(id: bigint, before: IndexedPlant | undefined, after: IndexedPlant | undefined): void {
    if (after) dictionary.learn(after.name);
    if (before && before.name !== after?.name) dictionary.doubt(before.name);
    const known = reindexed.get(id);
    reindexed.set(id, {
      before: known ? known.before : before && indexText(before.name, before.tag),
      after: after && indexText(after.name, after.tag),
    });
  }

  /** By ascending id, at the end: in any other order the index would write a segment for nearly every plant. */
  function writeIndex(): void {
    for (const [id, { before, after }] of [...reindexed].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (before === after) continue;
      if (before !== undefined) deleteWords.run(id, before);
      if (after !== undefined) insertWords.run(id, after);
    }
  }

  function pruneChanges(beforeMs: number): { pruned: number; more: boolean } {
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
  }
}

type IndexedPlant = { name: string; tag?: string | null | undefined };
