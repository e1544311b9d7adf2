// All that a database has to offer to the service.

import type { ChangeStore } from './change.ts';
import type { PlantStore } from './plant.ts';
import type { TokenStore } from './token.ts';
import type { DeliveryStore, WebhookStore } from './webhook.ts';

/** What is known of the whole database without counting. */
export interface StoreStats {
  /** Number of the newest change. */
  lastSeq: number;
  /** So much room it takes. */
  bytes: number;
}

export interface Store extends PlantStore, ChangeStore, TokenStore, WebhookStore, DeliveryStore {
  /** Proves with a commit of its own that records can be stored now. Throws what a create would throw. */
  probe(): Promise<void>;
  /** So many writes wait for a transaction. */
  queuedWrites(): number;
  stats(): Promise<StoreStats>;
  /** Ends when every write handed in before is committed. */
  close(): Promise<void>;
}
