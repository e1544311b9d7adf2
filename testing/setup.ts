// Runs once before and once after all tests: starts the PostgreSQL that they share, sets the folder for compiled code, and
// hides the profiles and the settings of the user.

import { join } from 'node:path';
import { listSettings } from '../src/config/settings.ts';
import { isPostgresHere, makeTemplate, startPostgres, type TestPostgres } from './postgres.ts';

/** Settings that save time. `fsync` stays on, because the service does not start without it. */
const CHEAP = { autovacuum: 'off', full_page_writes: 'off', checkpoint_timeout: '1h', max_wal_size: '4GB', jit: 'off' };

const CACHE = join(import.meta.dirname, '../node_modules/.cache/plant-store');

/** A folder for user configuration that has no profiles. */
export const NO_PROFILES = join(CACHE, 'no-profiles');

let server: TestPostgres | undefined;

export async function globalSetup(): Promise<void> {
  process.env.NODE_COMPILE_CACHE ??= CACHE; // that of the launcher
  for (const { name } of listSettings()) if (name !== 'THREADS') delete process.env[name];
  process.env.XDG_CONFIG_HOME = NO_PROFILES;
  if (!isPostgresHere()) return;
  server = await startPostgres({ max_connections: '200', ...CHEAP });
  await makeTemplate(server.url);
  process.env.TEST_POSTGRES_URL = server.url;
}

export async function globalTeardown(): Promise<void> {
  await server?.remove();
}
