// The messages between the main thread and another thread that serves requests.

import type { MessagePort } from 'node:worker_threads';
import type { Config } from '../config/config.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { Summary } from '../domain/plant-summary.ts';
import type { LimitsMemory } from '../http/access/shared-limits.ts';
import type { Timeouts } from '../http/core/timeouts.ts';
import type { Certificate } from '../http/core/tls.ts';
import type { ThreadReport } from '../observability/service-counts.ts';
import type { ServiceEvent } from '../observability/service-events.ts';
import type { TracedChange } from '../observability/tracing.ts';
import type { Address } from './http-listener.ts';
import type { StoreJoin } from './open-store.ts';

/** What a thread needs to serve requests. */
export interface HttpThreadData {
  config: Config;
  certificate: Certificate | undefined;
  address: Address;
  join: StoreJoin;
  limits: LimitsMemory;
  /** Number of characters of log lines that the thread has sent and the main thread has not written. */
  unwritten: SharedArrayBuffer;
  startedMs: number;
  /** Id of this node. */
  node: string;
  timeouts: Timeouts;
}

/** Messages to a thread. It ends after `stop`. */
export type ToThread =
  | { kind: 'listen' }
  /** Is replied to when the thread no longer listens. */
  | { kind: 'stop_listening'; reply: MessagePort }
  | { kind: 'stop' }
  | { kind: 'report'; isScrape: boolean; reply: MessagePort };

/** Messages of a thread. */
export type FromThread =
  /** Sent when it can listen. */
  | { kind: 'ready' }
  | { kind: 'listening' }
  | { kind: 'event'; event: ServiceEvent }
  | { kind: 'traced_change'; change: TracedChange }
  /** Is replied to when nothing more is sent by the old state of the webhook with this id, if any. */
  | { kind: 'webhook_changed'; id?: string; reply: MessagePort }
  | { kind: 'store_failed'; error: Error }
  /** Asks for the reports of all threads. */
  | { kind: 'report_all'; isScrape: boolean; reply: MessagePort }
  /** Asks for the summary. */
  | { kind: 'summary'; reply: MessagePort }
  /** Its last message, after an uncaught exception or after `stop`. The main thread then ends it. */
  | { kind: 'failed'; error: Error }
  | { kind: 'stopped'; report: ThreadReport };

/** The summary, or the reason why there is none. `code` is that of a PlantStoreError. */
export type SummaryReply = { summary: Summary } | { code: ErrorCode | undefined; error: Error };
