// Rows as the databases give them → the words of the domain.

import type { Change, ChangeType } from './change.ts';
import type { NewPlant, PlantRecord } from './plant.ts';
import type { Scope, Token } from './token.ts';

type Integer = number | bigint;

export interface PlantRow {
  name: string;
  tag: string | null;
  created: Integer;
  updated: Integer;
  seq: Integer;
}

export function toNewPlant(id: bigint, { name, tag }: { name: string; tag: string | null }): NewPlant {
  return tag === null ? { id, name } : { id, name, tag };
}

export function toRecord(id: bigint, row: PlantRow): PlantRecord {
  return { ...toNewPlant(id, row), created: toTime(row.created), updated: toTime(row.updated) };
}

export interface ChangeRow {
  seq: bigint;
  type: ChangeType;
  time: bigint;
  plant_id: bigint;
  name: string;
  tag: string | null;
  token_id: string;
}

export function toChange(row: ChangeRow): Change {
  const { seq, type, time, plant_id, token_id } = row;
  return { seq: Number(seq), type, time: toTime(time), plant: toNewPlant(plant_id, row), token: token_id };
}

export interface TokenRow {
  id: string;
  name: string;
  scopes: string;
  created: Integer;
  expires: Integer | null;
  revoked: Integer | null;
}

export function toToken({ id, name, scopes, created, expires, revoked }: TokenRow): Token {
  return {
    id,
    name,
    scopes: scopes.split(' ') as Scope[],
    createdMs: Number(created),
    expiresMs: expires === null ? null : Number(expires),
    revokedMs: revoked === null ? null : Number(revoked),
  };
}

let lastMs = Number.NaN;
let lastTime = '';

/** Rows that lie together are often of one time, and to print it takes longer than all the rest of a row. */
function toTime(ms: Integer): string {
  const timeMs = Number(ms);
  if (timeMs !== lastMs) {
    lastMs = timeMs;
    lastTime = new Date(timeMs).toISOString();
  }
  return lastTime;
}
