// Starts our own server as `npm start` runs it, on a free port, and other servers.

import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { addToken, LAUNCHER } from '../testing/launch.ts';
import { PLANT, type Request } from './load.ts';

const START_MS = 120_000;
const POLL_MS = 200;

/** Processes to kill if this process exits without calling `stop`. */
const started = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of started) child.kill('SIGKILL');
});

export interface BenchServer {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/** A server with the secret of a token for it. */
export type TokenedServer = BenchServer & { secret: string };

/** Returns a new folder, which is removed when the process exits. */
export function makeBenchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a server, and adds a token for it. */
export async function startTokenedServer(databaseUrl: string, ...options: ServerOptions): Promise<TokenedServer> {
  const { secret } = await addToken(databaseUrl, { scopes: ['plants:read', 'plants:write', 'admin'] });
  return { ...(await startServer(databaseUrl, ...options)), secret };
}

/** `within` is a command that starts the server, such as strace. */
type ServerOptions = [env?: Record<string, string>, within?: string[]];

export function startServer(databaseUrl: string, ...[env = {}, within = []]: ServerOptions): Promise<BenchServer> {
  const [command = '', ...args] = [...within, process.execPath, LAUNCHER, 'serve'];
  return startProcess(command, args, {
    env: { PORT: '0', DATABASE_URL: databaseUrl, ...env },
    address: /"url":"([^"]+)"/,
  });
}

export interface ProcessOptions {
  env?: Record<string, string>;
  cwd?: string;
  /** Matches the URL in a printed line. If the process prints no URL, this is the URL to poll. */
  address: RegExp | string;
  /** Receives each printed line. */
  onLine?(line: string): void;
}

/** Starts a process. Throws with its last output if it exits before it listens, or does not listen in time. */
export async function startProcess(
  command: string,
  args: string[],
  { env = {}, cwd, address, onLine = () => {} }: ProcessOptions,
): Promise<BenchServer> {
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    ...(cwd !== undefined && { cwd }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.add(child);
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill();
    await exited;
  };
  try {
    return { url: await untilListening(child, address, onLine), pid: child.pid as number, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function untilListening(
  child: ChildProcessByStdio<null, Readable, Readable>,
  address: RegExp | string,
  onLine: (line: string) => void,
): Promise<string> {
  let printed = '';
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on('line', (line) => {
      onLine(line);
      printed = `${printed}\n${line}`.slice(-2000);
      const found = typeof address === 'string' ? undefined : address.exec(line)?.[1];
      if (found) resolve(found);
    });
  }
  child.once('error', reject);
  child.once('exit', (status) => reject(new Error(`The process exited with ${status}: ${printed.trim()}`)));
  const timer = setTimeout(() => reject(new Error(`The process did not start: ${printed.trim()}`)), START_MS);
  const poll = setInterval(() => {
    if (typeof address === 'string') fetch(address).then(() => resolve(address), Boolean);
  }, POLL_MS);
  return promise.finally(() => {
    clearTimeout(timer);
    clearInterval(poll);
  });
}

/** Returns the request that stores a plant. */
export function toCreate(secret: string): Request {
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${secret}` };
  return { method: 'POST', path: '/plants', headers, body: PLANT };
}
