// Decides how a write changes the stored record. Every database applies these rules.

import { type ErrorCode, type ErrorDetail, PlantStoreError } from '../domain/errors.ts';
import type { Author, Created, Plant, PlantPatch, PlantStore, Versioned } from '../domain/plant.ts';
import { type Precondition, preconditionHolds } from '../domain/precondition.ts';
import type { Token, TokenChange } from '../domain/token.ts';
import { type PlantRow, toRecord } from './row-mapping.ts';

export type PlantWrite = (
  | { kind: 'create'; id: bigint; plant: Plant }
  | { kind: 'put'; id: bigint; plant: Plant; condition: Precondition }
  | { kind: 'patch'; id: bigint; patch: PlantPatch; condition: Precondition }
  | { kind: 'delete'; id: bigint; condition: Precondition }
) &
  Authorship;

export interface Authorship extends Author {
  nowMs: number;
}

/** Result of each kind of write. */
export interface Results {
  create: Created;
  put: Versioned;
  patch: Versioned;
  delete: null;
}

export type WriteAction =
  /** Creates the record or a new version of it. */
  | { does: 'store'; plant: Plant }
  | { does: 'delete' }
  /** The stored record already equals the requested one. */
  | { does: 'keep' }
  | ({ does: 'reject' } & Rejection);

/** The reason why a write was rejected. A rejected write changes nothing. */
export interface Rejection {
  rejected: ErrorCode;
  message: string;
  detail?: ErrorDetail;
}

/** Returns the action that a write takes on the stored record `present`. */
export function actionOf(write: PlantWrite, present: PlantRow | undefined): WriteAction {
  switch (write.kind) {
    case 'create':
      if (!present) return { does: 'store', plant: write.plant };
      if (isSame(present, write.plant)) return { does: 'keep' };
      return { does: 'reject', ...idTaken(write.id) };
    case 'put':
      if (!preconditionHolds(write.condition, present && Number(present.seq)))
        return conditionFailed(write.id, present);
      return storeUnlessSame(present, write.plant);
    case 'patch': {
      if (!present) return { does: 'reject', ...noPlant(write.id) };
      if (!preconditionHolds(write.condition, Number(present.seq))) return conditionFailed(write.id, present);
      const { name = present.name, tag = present.tag } = write.patch;
      return storeUnlessSame(present, tag === null ? { name } : { name, tag });
    }
    case 'delete':
      if (!present) return { does: 'reject', ...noPlant(write.id) };
      if (!preconditionHolds(write.condition, Number(present.seq))) return conditionFailed(write.id, present);
      return { does: 'delete' };
  }
}

/** Returns the record after this change. */
export function nextRow(
  { nowMs }: Authorship,
  present: PlantRow | undefined,
  { name, tag }: Plant,
  seq: number,
): PlantRow {
  return { name, tag: tag ?? null, created: present?.created ?? nowMs, updated: nowMs, seq };
}

/** Returns the result of a write. `row` is the current record. `kept` is true if the write did not change it. */
export function resultOf({ kind, id }: PlantWrite, row: PlantRow, kept: boolean): Results[keyof Results] {
  const seq = Number(row.seq);
  if (kind === 'create') return { seq, replayed: kept };
  return kind === 'delete' ? null : { record: toRecord(id, row), seq };
}

export function isSame(present: PlantRow, { name, tag }: Plant): boolean {
  return present.name === name && present.tag === (tag ?? null);
}

export function idTaken(id: bigint): Rejection {
  return { rejected: 'id_taken', message: `Id ${id} belongs to another plant. Use another id.` };
}

export function lastAdmin(id: string): Rejection {
  return {
    rejected: 'last_admin',
    message: `Token ${id} is the last active token with the scope "admin". Create another one first, or run "plant-store token revoke --force".`,
  };
}

/** True if the change takes the scope `admin` from the token, or lets it expire earlier. */
export function endsAdmin(token: Pick<Token, 'expiresMs'>, { scopes, expiresMs }: TokenChange): boolean {
  if (scopes && !scopes.includes('admin')) return true;
  return typeof expiresMs === 'number' && expiresMs < (token.expiresMs ?? Number.POSITIVE_INFINITY);
}

export function mustStayAdmin(id: string): Rejection {
  return {
    rejected: 'last_admin',
    message: `Token ${id} is the last active token with the scope "admin". It must keep this scope and cannot expire earlier. Create another one first.`,
  };
}

export const noPlant = (id: bigint) => notFound(`No plant has id ${id}`);
export const noToken = (id: string) => notFound(`No token has id "${id}"`);
export const noActiveToken = (id: string) => notFound(`No active token has id "${id}"`);
export const noWebhook = (id: string) => notFound(`No webhook has id "${id}"`);
export const noDelivery = (seq: number) =>
  notFound(`Change ${seq} cannot be retried. It was not attempted yet, or it was pruned.`);
export const notListed = (seq: number) =>
  notFound(`No delivery of change ${seq} is listed. It was not attempted yet, or its record was removed.`);

function notFound(message: string): Rejection {
  return { rejected: 'not_found', message };
}

export function toError({ rejected, message, detail }: Rejection): PlantStoreError {
  return new PlantStoreError(rejected, message, detail ? { detail } : {});
}

/** Returns the store methods that write single plants. `write` resolves once the write is committed. */
export function createPlantWrites(
  write: <W extends PlantWrite>(write: W) => Promise<Results[W['kind']]>,
  clock: () => number,
): Pick<PlantStore, 'create' | 'put' | 'patch' | 'delete'> {
  return {
    create({ id, name, tag }, { tokenId }) {
      return write({ kind: 'create', id, plant: { name, tag }, tokenId, nowMs: clock() });
    },
    put(id, plant, { ifMatch, ifNoneMatch, tokenId }) {
      return write({ kind: 'put', id, plant, condition: { ifMatch, ifNoneMatch }, tokenId, nowMs: clock() });
    },
    async patch(id, patch, { ifMatch, ifNoneMatch, tokenId }) {
      if (patch.id !== undefined && patch.id !== id)
        throw new PlantStoreError('not_valid', `"id" must be ${id}, the id in the path: an id cannot be changed`);
      return write({ kind: 'patch', id, patch, condition: { ifMatch, ifNoneMatch }, tokenId, nowMs: clock() });
    },
    async delete(id, { ifMatch, ifNoneMatch, tokenId }) {
      await write({ kind: 'delete', id, condition: { ifMatch, ifNoneMatch }, tokenId, nowMs: clock() });
    },
  };
}

function storeUnlessSame(present: PlantRow | undefined, plant: Plant): WriteAction {
  return present && isSame(present, plant) ? { does: 'keep' } : { does: 'store', plant };
}

function conditionFailed(id: bigint, present: PlantRow | undefined): WriteAction {
  const message = present
    ? `Plant ${id} is at version ${present.seq}. Read it again, or omit the condition.`
    : `No plant has id ${id}. Omit If-Match to create it.`;
  return {
    does: 'reject',
    rejected: 'condition_failed',
    message,
    detail: present ? { seq: Number(present.seq) } : {},
  };
}
