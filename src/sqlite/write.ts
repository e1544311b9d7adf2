// Every write there is, as data that can cross to the writer's thread, and its SQL.

import type { DatabaseSync } from 'node:sqlite';
import type { ChangeType } from '../change.ts';
import type { ErrorCode } from '../error.ts';
import type { Created, NewPlant } from '../plant.ts';
import type { Token } from '../token.ts';

export type Write =
  | { kind: 'create_plant'; plant: NewPlant; tokenId: string; nowMs: number }
  | { kind: 'add_token'; token: Token; secretHash: string }
  | { kind: 'revoke_token'; id: string; nowMs: number }
  /** Changes nothing, yet takes a real commit. */
  | { kind: 'probe' };

/** What a write gives when it is done. */
export type Done<W extends Write> = W extends { kind: 'create_plant' } ? Created : null;

/** A refused write has changed nothing; the others in its transaction are not touched by it. */
export type WriteResult = { done: Created | null } | { refused: ErrorCode; message: string };

/** Gives a function that applies a batch in order. The caller holds the transaction. */
export function prepareWrites(db: DatabaseSync): (batch: Write[]) => WriteResult[] {
  const lastSeq = db.prepare(`SELECT coalesce(max(seq), 0) AS seq FROM sqlite_sequence WHERE name = 'changes'`);
  const insertPlant = db.prepare(
    'INSERT INTO plants (id, name, tag, created, updated, seq) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  insertPlant.setReadBigInts(true); // or a large id throws as the last rowid
  const insertChange = db.prepare(
    'INSERT INTO changes (seq, type, time, plant_id, name, tag, token_id) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const findPlant = db.prepare('SELECT name, tag, seq FROM plants WHERE id = ?');
  const insertToken = db.prepare(
    'INSERT INTO tokens (id, secret_hash, name, scopes, created, expires) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const revokeToken = db.prepare('UPDATE tokens SET revoked = coalesce(revoked, ?) WHERE id = ?');
  const version = (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
  const rewriteVersion = `PRAGMA user_version = ${version}`;

  let seq = 0;
  return (batch) => {
    seq = (lastSeq.get() as { seq: number }).seq;
    return batch.map(apply);
  };

  function apply(write: Write): WriteResult {
    switch (write.kind) {
      case 'create_plant':
        return createPlant(write);
      case 'add_token': {
        const { id, name, scopes, createdMs, expiresMs } = write.token;
        insertToken.run(id, write.secretHash, name, scopes.join(' '), createdMs, expiresMs);
        return { done: null };
      }
      case 'revoke_token':
        if (revokeToken.run(write.nowMs, write.id).changes === 0) {
          return { refused: 'not_found', message: `No token has the id "${write.id}"` };
        }
        return { done: null };
      case 'probe':
        db.exec(rewriteVersion);
        return { done: null };
    }
  }

  function createPlant({ plant, tokenId, nowMs }: Extract<Write, { kind: 'create_plant' }>): WriteResult {
    const { id, name, tag = null } = plant;
    if (insertPlant.run(id, name, tag, nowMs, nowMs, seq + 1).changes === 1n) {
      recordChange('plant.created', plant, tokenId, nowMs);
      return { done: { seq, replayed: false } };
    }
    const present = findPlant.get(id) as { name: string; tag: string | null; seq: number };
    if (present.name === name && present.tag === tag) return { done: { seq: present.seq, replayed: true } };
    return { refused: 'id_taken', message: `Id ${id} belongs to another plant: take another id` };
  }

  function recordChange(type: ChangeType, { id, name, tag }: NewPlant, tokenId: string, nowMs: number): void {
    insertChange.run(++seq, type, nowMs, id, name, tag ?? null, tokenId);
  }
}
