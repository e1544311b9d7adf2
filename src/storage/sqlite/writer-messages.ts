// Packs writes for the writer thread, and their results. Creates, the most frequent writes, are sent as bare values: as
// objects, which repeat every field name, they would make a create 4 % more expensive.

import type { Failure } from './sqlite-errors.ts';
import type { Done, Write, WriteResult } from './writes.ts';

/** Maximum number of writes in a transaction, unless they are the plants of an import. */
export const MAX_BATCH_WRITES = 1000;

type Create = Extract<Write, { kind: 'create' }>;
type CreateValues = [id: bigint, name: string, tag: string | undefined, tokenId: string, nowMs: number];

export type WriteMessage = CreateValues | Exclude<Write, Create>;
/** A bare number is the change number of a create that stored a new record. */
export type ResultMessage = number | WriteResult | RolledBack;
/** The result of a write whose transaction failed. */
export type RolledBack = { failure: Failure; message: string };

/** The results of a batch, or the reason why the disk or the file is no longer reliable. */
export type BatchResult = Settled | { fatal: string };
export type Settled = { results: ResultMessage[]; durationMs: number };

export function packWrite(write: Write): WriteMessage {
  if (write.kind !== 'create') return write;
  const { id, plant, tokenId, nowMs } = write;
  return [id, plant.name, plant.tag, tokenId, nowMs];
}

export function unpackWrite(message: WriteMessage): Write {
  if (!Array.isArray(message)) return message;
  const [id, name, tag, tokenId, nowMs] = message;
  return { kind: 'create', id, plant: { name, tag }, tokenId, nowMs };
}

export function packResult(result: WriteResult, { kind }: Write): ResultMessage {
  if (kind !== 'create' || !('done' in result)) return result;
  const { seq, replayed } = result.done as Done<Create>;
  return replayed ? result : seq;
}

export function isRolledBack(message: ResultMessage): message is RolledBack {
  return typeof message === 'object' && 'failure' in message;
}

export function unpackResult(message: ResultMessage): WriteResult | RolledBack {
  return typeof message === 'number' ? { done: { seq: message, replayed: false } } : message;
}
