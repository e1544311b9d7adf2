// The machine that the trial runs on: a fresh folder, free ports, processes, and the end of all of them.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, globSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../testing/free-port.ts';
import { killPostgresIn, POSTGRES_SERVERS } from './postgres-processes.ts';

/** What has to be there, and the Debian package that brings it. */
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
  /** For a program that brings its own data: its folder in ours. */
  subfolder(name: string): string;
  /** As PostgreSQL's user where we are root, which PostgreSQL refuses to be. */
  startAsPostgres(name: string, command: string, args: string[], env?: Record<string, string>): ChildProcess;
  start(name: string, command: string, args: string[], env?: Record<string, string>): ChildProcess;
  /** Of everything that was started. */
  end(): void;
}

export function missingPackages(): string[] {
  return Object.entries(NEEDED).flatMap(([path, name]) => (globSync(path).length > 0 ? [] : [name]));
}

/** However we end, what was started ends with us, and the folder is removed unless it is to be kept. */
export function createMachine({ keep }: { keep: boolean }): Machine {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'plant-store-cluster-'))); // as /proc names it
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
    if (keep) console.log(`The logs are in ${folder}`);
    else rmSync(folder, { recursive: true, force: true, maxRetries: 10 }); // the last one may still be writing
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
      detached: true, // Ctrl-C is for us alone: we end the others in order
    });
    children.push(child);
    return child;
  }
}

/** Of PostgreSQL's user; where there is no PostgreSQL of Debian, HAProxy still runs as nobody in particular. */
function idOf(option: '-u' | '-g'): number {
  const { status, stdout } = spawnSync('id', [option, 'postgres'], { encoding: 'utf8' });
  return status === 0 ? Number(stdout) : UNPRIVILEGED;
}

export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

/** The first value that is not undefined. What the check throws means "not yet", and is told when the time is up. */
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
  throw new Error(`Not within ${timeoutMs / 1000} s: ${what}${reason}`);
}
