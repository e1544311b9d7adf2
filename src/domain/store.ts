// The interface that a database must implement for the service.

import type { ChangeStore } from './change.ts';
import type { ImportResult, NewPlant, PlantStore } from './plant.ts';
import type { TokenStore } from './token.ts';
import type { DeliveryStore, WebhookStore } from './webhook-store.ts';

/** Statistics of the whole database that need no counting. */
export interface StoreStats {
  /** Number of the newest change. */
  lastSeq: number;
  /** Size of the database. */
  bytes: number;
  /** Size of the WAL file. Undefined on PostgreSQL. */
  walBytes?: number;
  /** Number of migrations that the schema has. */
  schemaVersion: number;
  /** The last backup that the server or our own command wrote. Null if there was none, and on PostgreSQL. */
  lastBackup: LastBackup | null;
}

export interface LastBackup {
  timeMs: number;
  bytes: number;
}

/** A dry run of one import. It returns what `import` would return for the same plants. */
export interface DryRun {
  import(plants: NewPlant[]): Promise<ImportResult>;
  close(): void;
}

export interface Store extends PlantStore, ChangeStore, TokenStore, WebhookStore, DeliveryStore {
  /** Commits a probe to check that records can be stored now. Throws the same errors as a create. */
  probe(): Promise<void>;
  /** Opens a dry run of an import, which compares plants with the store and with each other, and stores nothing. */
  openDryRun(): DryRun;
  /** Returns the number of writes of all threads that are queued or in a transaction. */
  queuedWrites(): number;
  stats(): Promise<StoreStats>;
  /** Closes the store. Resolves once every earlier write is committed. */
  close(): Promise<void>;
}
