// The request that is under way where the code is, and what makes spans.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Context, Tracer } from '@opentelemetry/api';

export interface UnderWay {
  /** Holds the span of the request. */
  context: Context;
  /** What it has begun and goes on in the background is not a part of it. */
  isOver: boolean;
}

export interface Scope {
  tracer: Tracer;
  current: AsyncLocalStorage<UnderWay>;
}

export function createScope(tracer: Tracer): Scope {
  return { tracer, current: new AsyncLocalStorage() };
}
