// The environment of the trial: a new folder, free ports, and processes that are all stopped at the end.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, globSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../testing/free-port.ts';
import { killPostgresIn, POSTGRES_SERVERS } from './postgres-processes.ts';

/** Required files, and the Debian packages that contain them. */
const NEEDED = {
  '/usr/bin/patroni': 'patroni',
  '/usr/lib/python3/dist-packages/etcd': 'python3-etcd',
  '/usr/bin/etcd': 'etcd-server',
  '/usr/sbin/haproxy': 'haproxy',
  '/usr/bin/psql': 'postgresql-client',
  [POSTGRES_SERVERS]: 'postgresql',
};
const UNPRIVILEGED = 65534;
const POLL_MS = 100;

export interface Machine {
  folder: string;
  /** Creates a subfolder for the data of a program. */
  subfolder(name: string): string;
  /** Starts a process as PostgreSQL's user if we are root, because PostgreSQL refuses to run as root. */
  startAsPostgres(name: string, command: string, args: string[], env?: Record<string, string>): ChildProcess;
  start(name: string, command: string, args: string[], env?: Record<string, string>): ChildProcess;
  /** Stops all started processes. */
  end(): void;
}

export function missingPackages(): string[] {
  return Object.entries(NEEDED).flatMap(([path, name]) => (globSync(path).length > 0 ? [] : [name]));
}

/** Creates the environment. On exit, it stops all processes and removes the folder unless `keep` is true. */
export function createMachine({ keep }: { keep: boolean }): Machine {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'plant-store-cluster-'))); // the form that /proc shows
  const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : undefined;
  const children: ChildProcess[] = [];
  giveAway(folder);
  process.on('exit', end);

  return {
    folder,
    subfolder(name) {
      const path = join(folder, name);
      mkdirSync(path, { mode: 0o700 });
      giveAway(path);
      return path;
    },
    startAsPostgres: (name, command, args, env) => run(name, command, args, { env, ...user }),
    start: (name, command, args, env) => run(name, command, args, { env }),
    end,
  };

  function end(): void {
    process.off('exit', end);
    for (const child of children) child.kill('SIGKILL');
    killPostgresIn(folder);
    if (keep) console.log(`Log files: ${folder}`);
    else rmSync(folder, { recursive: true, force: true, maxRetries: 10 }); // a process may still be writing
  }

  function giveAway(path: string): void {
    if (user) chownSync(path, user.uid, user.gid);
  }

  function run(
    name: string,
    command: string,
    args: string[],
    { env = {}, ...user }: { env?: Record<string, string> | undefined; uid?: number; gid?: number },
  ): ChildProcess {
    const log = openSync(join(folder, `${name}.log`), 'a');
    const child = spawn(command, args, {
      ...user,
      cwd: folder,
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8', ...env },
      stdio: ['ignore', log, log],
      detached: true, // Ctrl-C must reach only this process, which stops the others in order
    });
    children.push(child);
    return child;
  }
}

/** Returns an id of PostgreSQL's user. Without Debian's PostgreSQL, HAProxy runs as an unprivileged user. */
function idOf(option: '-u' | '-g'): number {
  const { status, stdout } = spawnSync('id', [option, 'postgres'], { encoding: 'utf8' });
  return status === 0 ? Number(stdout) : UNPRIVILEGED;
}

export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

/**
 * Returns the first value that is not undefined. It ignores errors of the check until the timeout, and then reports the
 * last.
 */
export async function eventually<T>(what: string, timeoutMs: number, check: () => Promise<T | undefined>): Promise<T> {
  const endMs = performance.now() + timeoutMs;
  let reason = '';
  while (performance.now() < endMs) {
    try {
      const value = await check();
      if (value !== undefined) return value;
      reason = '';
    } catch (error) {
      reason = `: ${(error as Error).message}`;
    }
    await sleep(POLL_MS);
  }
  throw new Error(`Timed out after ${timeoutMs / 1000} s waiting until ${what}${reason}`);
}
