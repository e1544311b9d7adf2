// The interface that a database must implement for the service.

import type { ChangeStore } from './change.ts';
import type { PlantStore } from './plant.ts';
import type { TokenStore } from './token.ts';
import type { DeliveryStore, WebhookStore } from './webhook.ts';

/** Maximum number of concurrent exports of a store. Each keeps a connection and a snapshot open. */
export const MAX_EXPORTS = 16;

/** Statistics of the whole database that need no counting. */
export interface StoreStats {
  /** Number of the newest change. */
  lastSeq: number;
  /** Size of the database. */
  bytes: number;
}

export interface Store extends PlantStore, ChangeStore, TokenStore, WebhookStore, DeliveryStore {
  /** Commits a probe to check that records can be stored now. Throws the same errors as a create. */
  probe(): Promise<void>;
  /** Returns the number of writes that are queued for a transaction. */
  queuedWrites(): number;
  stats(): Promise<StoreStats>;
  /** Closes the store. Resolves once every earlier write is committed. */
  close(): Promise<void>;
}
