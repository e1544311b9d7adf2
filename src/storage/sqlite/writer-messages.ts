// How a batch gets to the writer's thread and its results come back: creates, of which there are most, as bare values.
// As objects, with the name of each member in every one of them, they would make a create 4 % dearer.

import type { Done, Write, WriteResult } from './plants-write.ts';

type CreateRow = [id: bigint, name: string, tag: string | undefined, tokenId: string, nowMs: number];
type Create = Extract<Write, { kind: 'create' }>;

export type CrossingWrite = CreateRow | Exclude<Write, Create>;
/** A number alone is that of a create that made a new record. */
export type CrossingResult = number | WriteResult;

export function packWrite(write: Write): CrossingWrite {
  if (write.kind !== 'create') return write;
  const { id, plant, tokenId, nowMs } = write;
  return [id, plant.name, plant.tag, tokenId, nowMs];
}

export function unpackWrite(crossing: CrossingWrite): Write {
  if (!Array.isArray(crossing)) return crossing;
  const [id, name, tag, tokenId, nowMs] = crossing;
  return { kind: 'create', id, plant: { name, tag }, tokenId, nowMs };
}

export function packResult(result: WriteResult, { kind }: Write): CrossingResult {
  if (kind !== 'create' || !('done' in result)) return result;
  const { seq, replayed } = result.done as Done<Create>;
  return replayed ? result : seq;
}

export function unpackResult(crossing: CrossingResult): WriteResult {
  return typeof crossing === 'number' ? { done: { seq: crossing, replayed: false } } : crossing;
}
