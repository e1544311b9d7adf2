// The facts that the service tells about itself. Code emits them; log.ts decides what is shown, and how.

import type { Result as DeliveryResult } from './courier.ts';

export type Fact =
  | { kind: 'listening'; url: string; database: string }
  | { kind: 'no_token' }
  | { kind: 'stopping'; reason: string }
  | { kind: 'stopped' }
  /** Under ACCESS_LOG only. */
  | {
      kind: 'request';
      requestId: string;
      method: string;
      path: string;
      status: number;
      durationMs: number;
      tokenId: string | undefined;
    }
  | {
      kind: 'delivery';
      webhookId: string;
      seq: number;
      result: DeliveryResult;
      code: number | undefined;
      durationMs: number;
    }
  /** Said once when it is taken to be down, and once when it answers again. */
  | { kind: 'webhook_failing'; webhookId: string; reason: string }
  | { kind: 'webhook_recovered'; webhookId: string }
  | { kind: 'webhook_disabled'; webhookId: string; reason: string }
  /** An answer of 50000. */
  | { kind: 'bug'; requestId?: string; error: unknown }
  /** Said once when writes begin to fail and once when they succeed again. */
  | { kind: 'writes_failing'; reason: string }
  | { kind: 'writes_recovered' }
  | { kind: 'store_failed'; error: Error };

export type Observe = (fact: Fact) => void;
