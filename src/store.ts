// All that a database has to offer to the service.

import type { ChangeStore } from './change.ts';
import type { PlantStore } from './plant.ts';
import type { TokenStore } from './token.ts';
import type { DeliveryStore, WebhookStore } from './webhook.ts';

export interface Store extends PlantStore, ChangeStore, TokenStore, WebhookStore, DeliveryStore {
  /** Proves with a commit of its own that records can be stored now. Throws what a create would throw. */
  probe(): Promise<void>;
  /** So many writes wait for a transaction. */
  waitingWrites(): number;
  /** Ends when every write handed in before is committed. */
  close(): Promise<void>;
}
