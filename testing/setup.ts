// Runs once before all tests and once after them (node --test-global-setup): the PostgreSQL that they share, and the
// place for what each of them would compile again.

import { join } from 'node:path';
import { isPostgresHere, startPostgres, type TestPostgres } from './postgres.ts';

let server: TestPostgres | undefined;

export async function globalSetup(): Promise<void> {
  process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../node_modules/.cache/plant-store'); // the launcher's
  if (!isPostgresHere()) return;
  server = await startPostgres({ max_connections: '200' });
  process.env.TEST_POSTGRES_URL = server.url;
}

export async function globalTeardown(): Promise<void> {
  await server?.remove();
}
