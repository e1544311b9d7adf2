// Runs the service inside the test's process, which starts ten times faster than a process of its own. Tests of the
// process itself (start, stop, output, kill, memory) use server.ts.

import { join } from 'node:path';
import { readConfig } from '../src/config/config.ts';
import type { Store } from '../src/domain/store.ts';
import { issueToken, type NewToken } from '../src/domain/token.ts';
import type { Timeouts } from '../src/http/core/timeouts.ts';
import type { ServiceEvent } from '../src/observability/service-events.ts';
import { type ServiceOptions, startService } from '../src/service/start-service.ts';
import { atEndOfFile } from './clean-up.ts';
import { makeFolder } from './server.ts';

export interface TestService {
  url: string;
  port: number;
  store: Store;
  databasePath: string;
  databaseUrl: string;
  /** Secret of a token that can read and write plants. */
  secret: string;
  tokenId: string;
  /** Every event that the service has reported so far. */
  events: ServiceEvent[];
  addToken(wanted?: Partial<NewToken>): Promise<{ id: string; secret: string }>;
  stop(): Promise<void>;
}

export interface TestServiceOptions {
  /** Defaults to a new folder. */
  folder?: string;
  /** Defaults to an SQLite file in the folder. */
  databaseUrl?: string;
  /** Settings in the form of environment variables. */
  env?: Record<string, string>;
  /** Clock and lease of webhook delivery. */
  delivery?: ServiceOptions['delivery'];
  /** Timeouts that differ from those in production. */
  timeouts?: Partial<Timeouts>;
}

export async function startTestService({
  folder = makeFolder(),
  databaseUrl = `sqlite:${join(folder, 'plants.db')}`,
  env = {},
  delivery,
  timeouts,
}: TestServiceOptions = {}): Promise<TestService> {
  const events: ServiceEvent[] = [];
  const config = readConfig({ PORT: '0', THREADS: '1', DATABASE_URL: databaseUrl, ...env }); // more threads take 0.3 s to start
  const { url, store, stop } = await startService(config, {
    observe: (event) => events.push(event),
    onFailure() {},
    delivery,
    timeouts: { lastRequestsMs: 20, lingerMs: 100, ...timeouts },
  });
  const { id: tokenId, secret } = await addToken();
  let stopped: Promise<void> | undefined;
  const stopOnce = () => {
    stopped ??= stop('the test ends');
    return stopped;
  };
  atEndOfFile(stopOnce);
  return {
    url,
    port: Number(new URL(url).port),
    store,
    databasePath: join(folder, 'plants.db'),
    databaseUrl,
    secret,
    tokenId,
    events,
    addToken,
    stop: stopOnce,
  };

  async function addToken(wanted: Partial<NewToken> = {}): Promise<{ id: string; secret: string }> {
    const scopes = wanted.scopes ?? ['plants:read', 'plants:write'];
    const { token, secret } = await issueToken(store, { name: 'test', expiresMs: null, ...wanted, scopes }, Date.now());
    return { id: token.id, secret };
  }
}
