// Starts the real process on a real file and a free port, with a token to use it.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { SCOPES } from '../src/domain/names.ts';
import { atEndOfFile, atEndOfProcess } from './clean-up.ts';
import { findCommand } from './find-command.ts';
import { addToken, besideServer, LAUNCHER } from './launch.ts';
import { type Call, callerOf } from './request.ts';

export { addToken, besideServer, LAUNCHER };

/** Skips tests that need commands which this machine does not have. */
export function needs(...commands: string[]): { skip?: string } {
  const missing = commands.find((command) => findCommand(command) === undefined);
  return missing === undefined ? {} : { skip: `SKIPPED: ${missing} is missing` };
}

/** Skips tests that run commands of the docs. */
export const needsCurl = needs('curl');

/** Skips tests on a terminal, which `script` makes. */
export const needsTerminal =
  process.platform === 'linux' && findCommand('script') !== undefined
    ? {}
    : { skip: 'SKIPPED: needs the command script of util-linux' };

export interface TestServer {
  url: string;
  port: number;
  /** Number of threads that serve requests. */
  threads: number;
  process: ChildProcess;
  /** Path of the SQLite file. */
  databasePath: string;
  databaseUrl: string;
  /** Secret of a token that can read and write plants. */
  secret: string;
  tokenId: string;
  /** Everything it has printed so far, on both streams. */
  output(): string;
  /** Sends SIGTERM. Returns the exit status. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
}

export interface ServerOptions {
  folder?: string;
  /** Defaults to an SQLite file in the folder. */
  databaseUrl?: string;
  env?: Record<string, string>;
  /** Command before the command line, such as strace with its options. */
  wrapper?: string[];
  /** Launcher of another build. */
  launcher?: string;
  /** Token that the database already has. By default this build creates one, and the database with it. */
  token?: { secret: string; id: string };
}

export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-test-'));
  atEndOfProcess(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })); // A killed server may still be writing.
  return folder;
}

/** Returns a new folder with an empty store, `plants.db`. */
export async function makeStoreFolder(): Promise<string> {
  const folder = makeFolder();
  await besideServer(`sqlite:${folder}/plants.db`, async () => {});
  return folder;
}

export async function startServer({
  folder = makeFolder(),
  databaseUrl = `sqlite:${join(folder, 'plants.db')}`,
  env = {},
  wrapper = [],
  launcher = LAUNCHER,
  token: given,
}: ServerOptions = {}): Promise<TestServer> {
  const { secret, id: tokenId } = given ?? (await addReadWriteToken(databaseUrl));
  const [command = '', ...args] = [...wrapper, process.execPath, launcher, 'serve'];
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, PORT: '0', DATABASE_URL: databaseUrl, ...numberOfThreads(), ...env },
    detached: true, // A process group of its own, so that a program under a wrapper ends with it.
  });
  let printed = '';
  const collect = (chunk: Buffer) => {
    printed += chunk;
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const ended = once(child, 'close'); // All output has arrived by then.
  atEndOfFile(() => killGroup(child));

  const { url, threads } = await new Promise<{ url: string; threads: number }>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      const [, url, threads] = /"url":"([^"]+)".*"threads":(\d+)/.exec(line) ?? [];
      if (url) resolve({ url, threads: Number(threads) });
    });
    child.on('exit', (status) => reject(new Error(`The server ended with ${status}: ${printed}`)));
  });
  return {
    url,
    port: Number(new URL(url).port),
    threads,
    process: child,
    databasePath: join(folder, 'plants.db'),
    databaseUrl,
    secret,
    tokenId,
    output: () => printed,
    async stop() {
      child.kill('SIGTERM');
      return (await ended)[0];
    },
    async kill() {
      killGroup(child);
      await ended;
    },
  };
}

/** Returns the setting THREADS of the tests themselves, so that all of them can be run with another number. */
function numberOfThreads(): Record<string, string> {
  const { THREADS } = process.env;
  return THREADS === undefined ? {} : { THREADS };
}

/** Returns an environment in which the process reports the files it loads whose names contain this text. */
export function tellLoaded(part: string): Record<string, string> {
  const hook = `
    import { registerHooks } from 'node:module';
    registerHooks({
      load(url, context, next) {
        if (url.includes('${part}')) process.stderr.write('LOADED ' + url + '\\n');
        return next(url, context);
      },
    });`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` };
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

async function addReadWriteToken(databaseUrl: string): Promise<{ secret: string; id: string }> {
  const { secret, token } = await addToken(databaseUrl, {});
  return { secret, id: token.id };
}

/** Adds a token with every scope. */
export async function addAdmin(server: { port: number; databaseUrl: string }): Promise<{ secret: string; call: Call }> {
  const { secret } = await addToken(server.databaseUrl, { scopes: [...SCOPES] });
  return { secret, call: callerOf(server, secret) };
}

/** Returns rows of the database file. Integers are bigint. */
export function query(databasePath: string, sql: string, ...values: (string | bigint)[]): Record<string, unknown>[] {
  const db = new DatabaseSync(databasePath, { readOnly: true, readBigInts: true, timeout: 5000 });
  try {
    return db
      .prepare(sql)
      .all(...values)
      .map((row) => ({ ...row }));
  } finally {
    db.close();
  }
}

/** Returns the resident memory of the server, or 0 where the platform does not report it. */
export function residentKib({ process: { pid } }: TestServer): number {
  if (process.platform !== 'linux') return 0;
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
