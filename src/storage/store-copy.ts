// Represents a whole store as rows, to copy it to another database and to compare two stores.

import { createHash } from 'node:crypto';
import type { ChangeRow, DeliveryRow, PlantRowWithId, TokenRow, WebhookRow } from './row-mapping.ts';

export type CopiedToken = TokenRow & { secret_hash: string };
export type CopiedSecret = { secret_hash: string; token_id: string; until: number | bigint };
export type CopiedWebhook = WebhookRow & { waiting_since: number | bigint };

/** A consistent snapshot of a store. */
export interface StoreCopy {
  /** Number of the last change. */
  lastSeq: number;
  prunedTo: number;
  /** Number of plants before the first change that has a number of plants. */
  plantCount: number;
  skipped: { first: number; last: number }[];
  counts: { plants: number; changes: number };
  /** Yields plants by ascending id. */
  plants(): AsyncIterable<PlantRowWithId>;
  /** Yields changes by ascending number. */
  changes(): AsyncIterable<ChangeRow>;
  changeAt(seq: bigint): ChangeRow | undefined;
  /** Yields tokens by ascending id. */
  tokens(): AsyncIterable<CopiedToken>;
  /** Yields secrets that were replaced by rotation. */
  oldSecrets(): AsyncIterable<CopiedSecret>;
  /** Yields webhooks by ascending id. */
  webhooks(): AsyncIterable<CopiedWebhook>;
  /** Yields deliveries by ascending webhook id, then by change number. */
  deliveries(): AsyncIterable<DeliveryRow>;
}

export interface Fingerprint {
  plants: number;
  changes: number;
  /** Hash over all values of all plants, changes, webhooks and deliveries. */
  sha256: string;
}

/** Returns equal fingerprints for stores with equal contents. Calls `onRow` for each plant and each change. */
export async function fingerprint(
  store: Pick<StoreCopy, 'plants' | 'changes' | 'webhooks' | 'deliveries'>,
  onRow: () => void,
): Promise<Fingerprint> {
  const hash = createHash('sha256');
  const plants = await add(store.plants(), PLANT, onRow);
  const changes = await add(store.changes(), CHANGE, onRow);
  await add(store.webhooks(), WEBHOOK);
  await add(store.deliveries(), DELIVERY);
  return { plants, changes, sha256: hash.digest('hex') };

  async function add<T extends object>(rows: AsyncIterable<T>, columns: (keyof T)[], onEach?: () => void) {
    let count = 0;
    let text = '';
    for await (const row of rows) {
      count++;
      onEach?.();
      text += `${toLine(row, columns)}\n`;
      if (text.length < 64 * 1024) continue;
      hash.update(text);
      text = '';
    }
    hash.update(`${text}\n`);
    return count;
  }
}

/** Returns the row as a line of text. Two rows are equal if their lines are equal. */
export function toLine<T extends object>(row: T, columns: (keyof T)[]): string {
  return JSON.stringify(columns.map((column) => (row[column] === null ? null : String(row[column]))));
}

export const PLANT: (keyof PlantRowWithId)[] = ['id', 'name', 'tag', 'created', 'updated', 'seq'];
export const CHANGE: (keyof ChangeRow)[] = [
  ...(['seq', 'type', 'time', 'plant_id', 'name', 'tag', 'token_id', 'previous', 'plant_count'] as const),
];
export const WEBHOOK: (keyof CopiedWebhook)[] = [
  ...(['id', 'url', 'events', 'secret', 'old_secret', 'old_secret_until', 'created', 'position', 'replay_to'] as const),
  ...(['replay_resume', 'waiting_since', 'failing_since', 'reason', 'disabled', 'epoch', 'retries'] as const),
  ...(['format', 'name'] as const),
];
export const DELIVERY: (keyof DeliveryRow)[] = [
  ...(['webhook_id', 'seq', 'plant_id', 'status', 'attempts', 'due', 'time', 'code', 'answer', 'error'] as const),
  'attempt_log',
];

export interface Difference<T> {
  /** Row to store, in place of `old` if that is defined. Undefined if `old` must be deleted. */
  row: T | undefined;
  old: T | undefined;
}

/** Yields the changes that turn the rows of `there` into those of `wanted`. Both must be sorted by ascending `key`. */
export async function* differences<T extends object>(
  wanted: AsyncIterable<T>,
  there: AsyncIterable<T>,
  { key, columns }: { key: (row: T) => bigint | string; columns: (keyof T)[] },
): AsyncGenerator<Difference<T>> {
  const others = there[Symbol.asyncIterator]();
  let other = await others.next();
  for await (const row of wanted) {
    while (!other.done && key(other.value) < key(row)) {
      yield { row: undefined, old: other.value };
      other = await others.next();
    }
    const old = !other.done && key(other.value) === key(row) ? other.value : undefined;
    if (old) other = await others.next();
    if (!old || toLine(old, columns) !== toLine(row, columns)) yield { row, old };
  }
  for (; !other.done; other = await others.next()) yield { row: undefined, old: other.value };
}
