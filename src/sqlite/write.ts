// Every write there is, as data that can cross to the writer's thread, and its SQL.

import type { DatabaseSync } from 'node:sqlite';
import type { ChangeType } from '../change.ts';
import { type Condition, conditionHolds } from '../condition.ts';
import type { ErrorCode, ErrorDetail } from '../error.ts';
import type { Created, NewPlant, Plant, PlantPatch, Versioned } from '../plant.ts';
import type { Token } from '../token.ts';
import { type Image, type Imported, storeBatch } from './batch.ts';
import { prepareLastSeq } from './numbering.ts';
import { type PlantRow, toRecord } from './rows.ts';
import { indexText } from './search.ts';

/** So many changes are removed in one transaction. */
const PRUNED_AT_ONCE = 10_000;

interface PlantWrite {
  tokenId: string;
  nowMs: number;
}

export type Write =
  | ({ kind: 'create_plant'; plant: NewPlant } & PlantWrite)
  | ({ kind: 'put_plant'; id: bigint; plant: Plant; condition: Condition } & PlantWrite)
  | ({ kind: 'patch_plant'; id: bigint; patch: PlantPatch; condition: Condition } & PlantWrite)
  | ({ kind: 'delete_plant'; id: bigint; condition: Condition } & PlantWrite)
  /** As batch.ts packed them. It is the only write in its transaction. */
  | ({ kind: 'create_plants'; image: Image } & PlantWrite)
  | { kind: 'prune_changes'; beforeMs: number }
  | { kind: 'add_token'; token: Token; secretHash: string }
  | { kind: 'revoke_token'; id: string; nowMs: number }
  /** Changes nothing, yet takes a real commit. */
  | { kind: 'probe' };

/** What a write gives when it is done. */
interface Results {
  create_plant: Created;
  put_plant: Versioned;
  patch_plant: Versioned;
  delete_plant: null;
  create_plants: Imported;
  /** How many, and if there may be more. */
  prune_changes: { pruned: number; more: boolean };
  add_token: null;
  revoke_token: null;
  probe: null;
}
export type Done<W extends Write> = Results[W['kind']];

/** A refused write has changed nothing; the others in its transaction are not touched by it. */
export type WriteResult = { done: Results[keyof Results] } | Refused;
export interface Refused {
  refused: ErrorCode;
  message: string;
  detail?: ErrorDetail;
}

type Of<Kind extends Write['kind']> = Extract<Write, { kind: Kind }>;

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
  const setPrunedTo = db.prepare('UPDATE numbering SET pruned_to = max(pruned_to, ?)');
  const insertWords = db.prepare('INSERT INTO words (rowid, text) VALUES (?, ?)');
  const deleteWords = db.prepare(`INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)`);
  const insertToken = db.prepare(
    'INSERT INTO tokens (id, secret_hash, name, scopes, created, expires) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const revokeToken = db.prepare('UPDATE tokens SET revoked = coalesce(revoked, ?) WHERE id = ?');
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
    return results;
  };

  function apply(write: Write): WriteResult {
    switch (write.kind) {
      case 'create_plant':
        return createPlant(write);
      case 'put_plant':
        return putPlant(write);
      case 'patch_plant':
        return patchPlant(write);
      case 'delete_plant':
        return removePlant(write);
      case 'create_plants':
        return { done: storeBatch(db, write.image, { ...write, firstSeq: seq + 1 }) };
      case 'prune_changes':
        return { done: pruneChanges(write.beforeMs) };
      case 'add_token': {
        const { id, name, scopes, createdMs, expiresMs } = write.token;
        insertToken.run(id, write.secretHash, name, scopes.join(' '), createdMs, expiresMs);
        return { done: null };
      }
      case 'revoke_token':
        if (revokeToken.run(write.nowMs, write.id).changes === 0n) {
          return { refused: 'not_found', message: `No token has the id "${write.id}"` };
        }
        return { done: null };
      case 'probe':
        db.exec(rewriteVersion);
        return { done: null };
    }
  }

  function createPlant({ plant, ...by }: Of<'create_plant'>): WriteResult {
    const { id, name, tag = null } = plant;
    if (insert(id, plant, by)) return { done: { seq, replayed: false } };
    const present = presentPlant(id) as PlantRow;
    if (present.name === name && present.tag === tag) return { done: { seq: Number(present.seq), replayed: true } };
    return { refused: 'id_taken', message: idTaken(id) };
  }

  function putPlant({ id, plant, condition, ...by }: Of<'put_plant'>): WriteResult {
    const present = presentPlant(id);
    if (!conditionHolds(condition, present && Number(present.seq))) return conditionFailed(id, present);
    if (present) return update(id, present, plant, by);
    insert(id, plant, by);
    return { done: { record: toRecord(id, presentPlant(id) as PlantRow), seq } };
  }

  function patchPlant({ id, patch, condition, ...by }: Of<'patch_plant'>): WriteResult {
    const present = presentPlant(id);
    if (!present) return notFound(id);
    if (!conditionHolds(condition, Number(present.seq))) return conditionFailed(id, present);
    const tag = patch.tag === undefined ? present.tag : patch.tag;
    return update(id, present, { name: patch.name ?? present.name, ...(tag !== null && { tag }) }, by);
  }

  function removePlant({ id, condition, ...by }: Of<'delete_plant'>): WriteResult {
    const present = presentPlant(id);
    if (!present) return notFound(id);
    if (!conditionHolds(condition, Number(present.seq))) return conditionFailed(id, present);
    deletePlant.run(id);
    recordChange('plant.deleted', id, present, by);
    reindex(id, present, undefined);
    return { done: null };
  }

  /** False when the id is taken. */
  function insert(id: bigint, plant: Plant, by: PlantWrite): boolean {
    if (insertPlant.run(id, plant.name, plant.tag ?? null, by.nowMs, by.nowMs, seq + 1).changes !== 1n) return false;
    recordChange('plant.created', id, plant, by);
    reindex(id, undefined, plant);
    return true;
  }

  function update(id: bigint, present: PlantRow, plant: Plant, by: PlantWrite): WriteResult {
    const { name, tag = null } = plant;
    if (present.name === name && present.tag === tag) {
      return { done: { record: toRecord(id, present), seq: Number(present.seq) } };
    }
    updatePlant.run(name, tag, by.nowMs, seq + 1, id);
    recordChange('plant.updated', id, plant, by);
    reindex(id, present, plant);
    return { done: { record: toRecord(id, { ...present, name, tag, updated: by.nowMs }), seq } };
  }

  function presentPlant(id: bigint): PlantRow | undefined {
    return findPlant.get(id) as PlantRow | undefined;
  }

  function recordChange(
    type: ChangeType,
    id: bigint,
    { name, tag }: { name: string; tag?: string | null | undefined },
    { tokenId, nowMs }: PlantWrite,
  ): void {
    insertChange.run(++seq, type, nowMs, id, name, tag ?? null, tokenId);
  }

  function reindex(id: bigint, before: IndexedPlant | undefined, after: IndexedPlant | undefined): void {
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
    const firstKept = oldest.findIndex(({ time }) => time >= beforeMs);
    const pruned = firstKept === -1 ? oldest.length : firstKept;
    const last = oldest[pruned - 1];
    if (last) {
      deleteChanges.run(last.seq);
      setPrunedTo.run(last.seq);
    }
    return { pruned, more: pruned === PRUNED_AT_ONCE };
  }
}

type IndexedPlant = { name: string; tag?: string | null | undefined };

export function idTaken(id: bigint): string {
  return `Id ${id} belongs to another plant: take another id`;
}

function notFound(id: bigint): WriteResult {
  return { refused: 'not_found', message: `No plant has the id ${id}` };
}

function conditionFailed(id: bigint, present: PlantRow | undefined): WriteResult {
  const message = present
    ? `Plant ${id} is at version ${present.seq}: read it again, or leave the condition out`
    : `There is no plant ${id}: leave If-Match out to create it`;
  return {
    refused: 'condition_failed',
    message,
    detail: present ? { seq: Number(present.seq) } : {},
  };
}
