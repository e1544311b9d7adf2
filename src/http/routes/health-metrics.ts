// For those who run the service rather than use it: is it alive, can it write, how is it doing.

import { z } from 'zod';
import { PlantStoreError } from '../../domain/errors.ts';
import type { Store } from '../../domain/store.ts';
import { withDeadline } from '../../lib/deadline.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { type Route, route } from '../core/route.ts';

/** A probe is a commit: however often it is asked, the disk sees one in this time. */
const PROBE_EVERY_MS = 1000;
const PROBE_TIMEOUT_MS = 5000;

const Status = z.object({ status: z.string() }).meta({ id: 'Status' });

export function healthMetricsRoutes(store: Store, metrics: Metrics, stopping: AbortSignal): Route[] {
  let probe: Promise<void> | undefined;

  return [
    route('GET /healthz', 'getHealth', 'open', {
      summary: 'Tell if the process lives',
      response: { description: 'It lives', schema: Status },
      handle: () => ({ status: 'ok' }),
    }),
    route('GET /readyz', 'getReadiness', 'open', {
      summary: 'Tell if plants can be stored now',
      response: { description: 'They can', schema: Status },
      async handle() {
        if (stopping.aborted) throw new PlantStoreError('unavailable', 'The service is stopping');
        probe ??= probeOnce();
        await probe;
        return { status: 'ready' };
      },
    }),
    route('GET /metrics', 'getMetrics', 'admin', {
      summary: 'Give figures to Prometheus',
      response: { description: 'Figures of this node, in the text format of Prometheus', streams: ['text/plain'] },
      async handle({ reply }) {
        reply.type(metrics.contentType);
        return metrics.print();
      },
    }),
  ];

  function probeOnce(): Promise<void> {
    setTimeout(() => (probe = undefined), PROBE_EVERY_MS).unref();
    return withDeadline(store.probe(), PROBE_TIMEOUT_MS, () => {
      throw new PlantStoreError('unavailable', 'The database does not answer');
    });
  }
}
