// Runs once before all tests and once after them (node --test-global-setup): the PostgreSQL that they share, and the
// place for what each of them would compile again.

import { join } from 'node:path';
import { isPostgresHere, makeTemplate, startPostgres, type TestPostgres } from './postgres.ts';

/** Saves work that no test is about. Without fsync the service would not start. */
const CHEAP = { autovacuum: 'off', full_page_writes: 'off', checkpoint_timeout: '1h', max_wal_size: '4GB', jit: 'off' };

let server: TestPostgres | undefined;

export async function globalSetup(): Promise<void> {
  process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../node_modules/.cache/plant-store'); // the launcher's
  if (!isPostgresHere()) return;
  server = await startPostgres({ max_connections: '200', ...CHEAP });
  await makeTemplate(server.url);
  process.env.TEST_POSTGRES_URL = server.url;
}

export async function globalTeardown(): Promise<void> {
  await server?.remove();
}
