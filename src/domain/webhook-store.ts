// The parts of the store that keep webhooks and the state of their deliveries.

import type { Attempt } from './attempt-log.ts';
import type { Change } from './change.ts';
import type { Delivery, Replay } from './delivery.ts';
import { PlantStoreError } from './errors.ts';
import type { DeliveryStatus } from './names.ts';
import type { StoredWebhook, WebhookPatch } from './webhook.ts';

/** A delivery that has neither succeeded nor used up its attempts. */
export interface OpenDelivery {
  seq: number;
  plantId: bigint;
  attempts: number;
  dueMs: number;
}

/** The state of a delivery. */
export interface DeliveryRecord extends OpenDelivery {
  status: DeliveryStatus;
  /** Time of the last attempt. */
  timeMs: number | null;
  code: number | null;
  answer: string | null;
  error: string | null;
  /** Lines for the attempt log: the attempts that are not saved yet, newest first. */
  attemptLog: string;
}

/** A delivery, its change and its attempts, newest first. */
export interface LoggedDelivery {
  delivery: Delivery;
  change: Change;
  attempts: Attempt[];
}

/** A webhook to add. */
export type WantedWebhook = Pick<StoredWebhook, 'id' | 'url' | 'events' | 'secret' | 'createdMs'> &
  Partial<Pick<StoredWebhook, 'format' | 'name'>>;

/** Progress of a webhook, saved in one write. */
export interface Progress {
  id: string;
  epoch: number;
  position: number;
  failing: StoredWebhook['failing'];
  disabledMs: number | null;
  records: DeliveryRecord[];
}

export interface DeliveryQuery {
  /** Returns only changes with a smaller number. */
  before?: number | undefined;
  limit?: number | undefined;
  status?: DeliveryStatus | undefined;
}

/** Methods that take an id throw `not_found`. */
export interface WebhookStore {
  /** Adds a webhook, which receives the changes from now on. */
  addWebhook(webhook: WantedWebhook): Promise<StoredWebhook>;
  getWebhook(id: string): Promise<StoredWebhook>;
  /** Returns all webhooks, oldest first. */
  listWebhooks(): Promise<StoredWebhook[]>;
  removeWebhook(id: string): Promise<void>;
  /** Replaces the secret. The old one also signs until `oldUntilMs`. */
  rotateSecret(id: string, secret: string, oldUntilMs: number): Promise<StoredWebhook>;
  /**
   * Changes the given fields. `enabled: true` resumes delivery at the saved position, or at the oldest change that was
   * not pruned. New events apply to the changes after the position. A new URL makes all pending deliveries due.
   */
  updateWebhook(id: string, patch: WebhookPatch, nowMs: number): Promise<StoredWebhook>;
  /** Sends a range of changes again before new ones. Throws `changes_pruned`, or `not_valid` if the range is empty. */
  replay(id: string, range: Replay, nowMs: number): Promise<StoredWebhook>;
  /** Makes a delivery due now, with its attempts counted from zero. */
  retryDelivery(id: string, seq: number, nowMs: number): Promise<Delivery>;
  /** Returns deliveries, newest first. Of the delivered ones the store keeps only the newest. */
  listDeliveries(id: string, query?: DeliveryQuery): Promise<Delivery[]>;
  /** Returns a delivery with its attempts. Throws `not_found` also if the store has no record of the delivery. */
  getDelivery(id: string, seq: number): Promise<LoggedDelivery>;
  /** Returns the time of the oldest change that an enabled webhook has not delivered. */
  oldestWaitingMs(): Promise<number | undefined>;
  /** Returns the number of deliveries to enabled webhooks that wait for their next attempt. */
  countPendingDeliveries(): Promise<number>;
}

export interface Claim {
  /** Webhooks that only this node delivers to until the lease ends. */
  webhooks: StoredWebhook[];
  /** Number of webhooks that this node should release for other nodes. */
  surplus: number;
  /** Number of the newest change. */
  lastSeq: number;
}

/** The part of the store that only the delivery loop uses. */
export interface DeliveryStore {
  /** Renews the lease of this node's webhooks, and adds webhooks that no node has. */
  claimWebhooks(node: string, leaseMs: number): Promise<Claim>;
  /** Releases webhooks. Without ids, releases all webhooks of the node and removes the node. */
  releaseWebhooks(node: string, ids?: string[]): Promise<void>;
  /** Returns the open deliveries by webhook, in ascending order. */
  openDeliveries(ids: string[]): Promise<Map<string, OpenDelivery[]>>;
  /**
   * Saves progress. Returns the ids of webhooks still owned by this node and epoch. For others it saves only successes.
   */
  recordDeliveries(node: string, progress: Progress[]): Promise<string[]>;
}

export function noSuchChange(from: number): PlantStoreError {
  return new PlantStoreError(
    'not_valid',
    `"from" must be the number of a change. No change has the number ${from} or a higher one yet.`,
  );
}
