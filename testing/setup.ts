// Runs once before and once after all tests (node --test-global-setup): starts the PostgreSQL that they share, and sets the
// folder for compiled code.

import { join } from 'node:path';
import { isPostgresHere, makeTemplate, startPostgres, type TestPostgres } from './postgres.ts';

/** Settings that save time. `fsync` stays on, because the service does not start without it. */
const CHEAP = { autovacuum: 'off', full_page_writes: 'off', checkpoint_timeout: '1h', max_wal_size: '4GB', jit: 'off' };

let server: TestPostgres | undefined;

export async function globalSetup(): Promise<void> {
  process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../node_modules/.cache/plant-store'); // The cache of the launcher.
  if (!isPostgresHere()) return;
  server = await startPostgres({ max_connections: '200', ...CHEAP });
  await makeTemplate(server.url);
  process.env.TEST_POSTGRES_URL = server.url;
}

export async function globalTeardown(): Promise<void> {
  await server?.remove();
}
