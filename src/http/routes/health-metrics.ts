// Routes for operators: liveness, readiness and metrics.

import { z } from 'zod';
import { PlantStoreError } from '../../domain/errors.ts';
import type { Store } from '../../domain/store.ts';
import { withDeadline } from '../../lib/deadline.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { type Route, route } from '../core/route.ts';

/** Minimum interval between probes of a thread. Each probe is a commit, so more requests share its result. */
const PROBE_EVERY_MS = 1000;
const PROBE_TIMEOUT_MS = 5000;

const Status = z
  .object({ status: z.string().meta({ description: 'Status of the service', examples: ['ok'] }) })
  .meta({ id: 'Status', description: 'The status of the service' });

const METRICS_EXAMPLE =
  '# HELP plant_store_waiting_writes Writes queued for a transaction or in one\n# TYPE plant_store_waiting_writes gauge\nplant_store_waiting_writes 0\n';

export function healthMetricsRoutes(store: Store, metrics: Metrics, stopping: AbortSignal): Route[] {
  let probe: Promise<void> | undefined;

  return [
    route('GET /healthz', 'getHealth', 'open', {
      summary: 'Check that the process is alive',
      description: 'Returns 200 while the process is running. It does not check the database.',
      response: { description: 'The process is alive', schema: Status },
      handle: () => ({ status: 'ok' }),
    }),
    route('GET /readyz', 'getReadiness', 'open', {
      summary: 'Check that plants can be stored',
      description:
        'Returns 200 if the service can write to its database now. Returns 503 while the service is stopping or the database is unavailable.',
      response: { description: 'The service can store plants', schema: Status },
      async handle() {
        if (stopping.aborted) throw new PlantStoreError('unavailable', 'The service is stopping');
        probe ??= probeOnce();
        await probe;
        return { status: 'ready' };
      },
    }),
    route('GET /metrics', 'getMetrics', 'admin', {
      summary: 'Get metrics for Prometheus',
      description: 'Returns the metrics of this node.',
      response: {
        description: 'Metrics in the Prometheus text format',
        streams: ['text/plain'],
        streamExample: METRICS_EXAMPLE,
      },
      async handle({ reply }) {
        reply.type(metrics.contentType);
        return metrics.print();
      },
    }),
  ];

  function probeOnce(): Promise<void> {
    setTimeout(() => (probe = undefined), PROBE_EVERY_MS).unref();
    return withDeadline(store.probe(), PROBE_TIMEOUT_MS, () => {
      throw new PlantStoreError('unavailable', 'The database does not respond');
    });
  }
}
