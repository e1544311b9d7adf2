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
import { addToken, besideServer, FLAGS, LAUNCHER } from './launch.ts';
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
  process: ChildProcess;
  /** Of SQLite. */
  databasePath: string;
  databaseUrl: string;
  /** Of a token that may read and write. */
  secret: string;
  tokenId: string;
  /** Everything it has printed so far, on both streams. */
  output(): string;
  /** SIGTERM; gives the exit status. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
}

export interface ServerOptions {
  folder?: string;
  /** SQLite in the folder by default. */
  databaseUrl?: string;
  env?: Record<string, string>;
  /** Put before the command line, such as strace with its options. */
  wrapper?: string[];
  /** Of another build than this one. */
  launcher?: string;
  /** One that the database has already. By default one is created, and thereby the database, by this build. */
  token?: { secret: string; id: string };
}

export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-test-'));
  atEndOfProcess(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })); // one that was killed may still write
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
  const [command = '', ...args] = [...wrapper, process.execPath, ...FLAGS, launcher, 'serve'];
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, PORT: '0', DATABASE_URL: databaseUrl, ...env },
    detached: true, // a group of its own: what runs under a wrapper ends with it
  });
  let printed = '';
  const collect = (chunk: Buffer) => {
    printed += chunk;
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const ended = once(child, 'close'); // by then all that it wrote is here
  atEndOfFile(() => killGroup(child));

  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      const found = /"url":"([^"]+)"/.exec(line)?.[1];
      if (found) resolve(found);
    });
    child.on('exit', (status) => reject(new Error(`The server ended with ${status}: ${printed}`)));
  });
  return {
    url,
    port: Number(new URL(url).port),
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

/** An environment in which the process says which files it loads of those whose names have this in them. */
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
    // it has ended before
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

/** Rows as they are in the file, integers exact. */
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

/** Memory of the server; 0 where it cannot be told. */
export function residentKib({ process: { pid } }: TestServer): number {
  if (process.platform !== 'linux') return 0;
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
