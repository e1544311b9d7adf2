// Creates a span for each store call within a request. Background work, such as the delivery loop, has no spans.

import { type Span, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { ERROR_NUMBERS, PlantStoreError } from '../../domain/errors.ts';
import type { Store } from '../../domain/store.ts';
import type { TracedChange } from '../tracing.ts';
import type { Scope } from './request-spans.ts';

type StoreCall = (...given: unknown[]) => Promise<unknown>;

/** The store methods that have a span. `export` has its own. */
const TRACED = [
  ...(['create', 'get', 'list', 'put', 'patch', 'delete', 'import', 'summary', 'changes', 'probe'] as const),
  ...(['count', 'history', 'changePage', 'lastSeq'] as const),
  ...(['addToken', 'getToken', 'listTokens', 'updateToken', 'rotateToken', 'revokeToken'] as const),
  ...(['addWebhook', 'getWebhook', 'listWebhooks', 'removeWebhook', 'rotateSecret', 'updateWebhook'] as const),
  ...([
    'replay',
    'retryDelivery',
    'listDeliveries',
    'getDelivery',
    'oldestWaitingMs',
    'countPendingDeliveries',
  ] as const),
] satisfies (keyof Store)[];

/** Returns the store with spans. `noteChange` receives each change with the span that made it, if the span is sampled. */
export function traceStore(
  store: Store,
  system: string,
  { tracer, current }: Scope,
  noteChange: (change: TracedChange) => void,
): Store {
  const traced: Store = {
    ...store,
    /** The span ends when the export is closed. */
    async export() {
      const span = begin('export');
      if (!span) return store.export();
      const snapshot = await orFail(span, store.export());
      return {
        ...snapshot,
        close() {
          span.end();
          snapshot.close();
        },
      };
    },
  };
  for (const name of TRACED) Object.assign(traced, { [name]: inSpan(name, store[name] as StoreCall) });
  return traced;

  function inSpan(name: (typeof TRACED)[number], call: StoreCall): StoreCall {
    return async (...given) => {
      const span = begin(name);
      if (!span) return call(...given);
      const [plants] = given;
      if (name === 'import' && Array.isArray(plants)) span.setAttribute('db.operation.batch.size', plants.length);
      const result = await orFail(span, call(...given));
      if (name === 'create' || name === 'put' || name === 'patch') noteSampled(result, span);
      span.end();
      return result;
    };
  }

  function noteSampled(result: unknown, span: Span): void {
    const seq = seqOf(result);
    const { traceId, spanId, traceFlags } = span.spanContext();
    if (seq !== undefined && traceFlags & TraceFlags.SAMPLED)
      noteChange({ seq, span: { traceId, spanId, traceFlags } });
  }

  function begin(name: string): Span | undefined {
    const request = current.getStore();
    if (!request || request.isOver) return undefined;
    const attributes = { 'db.system.name': system, 'db.operation.name': name };
    return tracer.startSpan(`store.${name}`, { kind: SpanKind.CLIENT, attributes }, request.context);
  }
}

function seqOf(result: unknown): number | undefined {
  if (typeof result !== 'object' || result === null || !('seq' in result)) return undefined;
  return typeof result.seq === 'number' ? result.seq : undefined;
}

async function orFail<T>(span: Span, result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    const code = error instanceof PlantStoreError ? error.code : 'bug';
    span.setAttribute('error.type', code);
    if (ERROR_NUMBERS[code] >= 50000) span.setStatus({ code: SpanStatusCode.ERROR }); // other errors are rejections
    span.end();
    throw error;
  }
}
