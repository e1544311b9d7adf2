// Every write there is, as data that can cross to the writer's thread, and which part of the code applies it there.

import type { DatabaseSync } from 'node:sqlite';
import type { Authorship, PlantWrite, Rejection, Results } from '../write-rules.ts';
import { prepareLastSeq } from './change-numbers.ts';
import { type Imported, type ImportImage, importPlants } from './import-image.ts';
import { preparePlantWrites } from './plants-write.ts';
import { type Pruned, preparePrune } from './prune-changes.ts';
import { prepareTokenWrites, type TokenResults, type TokenWrite } from './tokens.ts';
import { prepareWebhookWrites, type WebhookResults, type WebhookWrite } from './webhooks-write.ts';

export type Write =
  | PlantWrite
  /** The plants of an import. It is the only write in its transaction. */
  | ({ kind: 'create_plants'; image: ImportImage } & Authorship)
  | { kind: 'prune_changes'; beforeMs: number }
  | TokenWrite
  | WebhookWrite
  /** Changes nothing, yet takes a real commit. */
  | { kind: 'probe' };

interface AllResults extends Results, TokenResults, WebhookResults {
  create_plants: Imported;
  prune_changes: Pruned;
  probe: null;
}
export type Done<W extends Write> = AllResults[W['kind']];

/** A rejected write leaves the others in its transaction alone. */
export type WriteResult = { done: AllResults[keyof AllResults] } | Rejection;

/**
 * Returns a function that applies a batch in order. The caller holds the transaction. `lostWords` are words that may be
 * unused: the set outlives the statements, which an import ends.
 */
export function prepareWrites(db: DatabaseSync, lostWords: Set<string>): (batch: Write[]) => WriteResult[] {
  const lastSeq = prepareLastSeq(db);
  const plants = preparePlantWrites(db, lostWords);
  const prune = preparePrune(db);
  const writeToken = prepareTokenWrites(db);
  const writeWebhook = prepareWebhookWrites(db);
  const { user_version } = db.prepare('PRAGMA user_version').get() as { user_version: bigint };

  return (batch) => {
    plants.begin(lastSeq());
    const results = batch.map(apply);
    plants.end();
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
        return { done: importPlants(db, write.image, { ...write, firstSeq: lastSeq() + 1 }) };
      case 'prune_changes':
        return { done: prune(write.beforeMs) };
      case 'add_token':
      case 'revoke_token':
      case 'rotate_token':
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
