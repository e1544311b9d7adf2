// Which span has made a change, for the deliveries of it. The newest ones only: one that is delivered much later, or
// by another node, has no link.

import { type Span, type SpanContext, TraceFlags } from '@opentelemetry/api';

const MAX_ORIGINS = 4096;

export interface Origins {
  /** What a write gave, which has the number of its change. */
  note(result: unknown, span: Span): void;
  find(seq: number): SpanContext | undefined;
}

export function createOrigins(): Origins {
  const bySeq = new Map<number, SpanContext>();

  return {
    note(result, span) {
      const seq = seqOf(result);
      const context = span.spanContext();
      if (seq === undefined || bySeq.has(seq) || !(context.traceFlags & TraceFlags.SAMPLED)) return;
      bySeq.set(seq, context);
      const [oldest] = bySeq.keys();
      if (oldest !== undefined && bySeq.size > MAX_ORIGINS) bySeq.delete(oldest);
    },
    find: (seq) => bySeq.get(seq),
  };
}

function seqOf(result: unknown): number | undefined {
  if (typeof result !== 'object' || result === null || !('seq' in result)) return undefined;
  return typeof result.seq === 'number' ? result.seq : undefined;
}
