// Loads and starts tracing if it is configured.

import packageJson from '../../package.json' with { type: 'json' };
import type { Config } from '../config/config.ts';
import type { Observe } from '../observability/service-events.ts';
import type { TracedChange, Tracing } from '../observability/tracing.ts';

/**
 * Starts tracing. Returns undefined if it is off. `node` identifies this process. `onChange` receives the changes that
 * requests of this thread make.
 */
export async function loadTracing(
  config: Config,
  node: string,
  observe: Observe,
  onChange?: (change: TracedChange) => void,
): Promise<Tracing | undefined> {
  const { traces, database } = config;
  if (!traces) return undefined;
  const { startTracing } = await import('../observability/otel/start-tracing.ts');
  return startTracing({
    config: traces,
    database: database.kind,
    version: packageJson.version,
    node,
    observe,
    onChange,
  });
}
