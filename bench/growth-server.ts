// Our server as `npm start` starts it, on a file of its own, with a token for it; what such a process has used of the
// machine so far; and the machine itself.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openStore } from '../src/commands/open.ts';
import { issueToken, SCOPES } from '../src/token.ts';

const launcher = join(import.meta.dirname, '../bin/plant-store.js');

export interface Server {
  url: string;
  secret: string;
  pid: number;
  stop(): Promise<void>;
}

interface Options {
  /** For Node. */
  flags?: string[];
  stderr?: 'inherit' | 'pipe';
}

export async function startServer(path: string): Promise<Server> {
  const store = await openStore({ kind: 'sqlite', path }, { role: 'command', observe() {}, onFailure() {} });
  const { secret } = await issueToken(store, { name: 'bench', scopes: [...SCOPES], expiresMs: null }, Date.now());
  await store.close();
  const child = startCommand(path, ['serve'], { flags: ['--max-semi-space-size=16'] });
  process.once('exit', () => child.kill('SIGKILL'));
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error('The server did not start')));
    if (child.stdout) createInterface(child.stdout).once('line', (line) => resolve(JSON.parse(line).url));
  });
  return {
    url,
    secret,
    pid: child.pid as number,
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

/** `plant-store …` on the file at `path`. */
export function startCommand(path: string, args: string[], { flags = [], stderr = 'inherit' }: Options): ChildProcess {
  return spawn(process.execPath, [...flags, launcher, ...args], {
    env: { PATH: process.env.PATH, PORT: '0', DATABASE_URL: `sqlite:${path}` },
    stdio: ['ignore', 'pipe', stderr],
  });
}

/** Of all its threads so far; 0 where it cannot be told. */
export function cpuUsOf(pid: number): number {
  if (process.platform !== 'linux') return 0;
  let ns = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    ns += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
  }
  return ns / 1000;
}

/** Now (`VmRSS`) or at most so far (`VmHWM`); 0 where it cannot be told. */
export function memoryMibOf(pid: number, which: 'VmRSS' | 'VmHWM'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(new RegExp(`${which}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

export interface Machine {
  cpu: string;
  cores: number;
  memoryGib: number;
  os: string;
  node: string;
  date: string;
}

export function machine(): Machine {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 1024 ** 3),
    os: `${type()} ${release()} ${process.arch}`,
    node: process.version,
    date: new Date().toISOString().slice(0, 10),
  };
}

export function describeMachine({ cpu, cores, memoryGib, os, node, date }: Machine): string {
  return [cpu, `${cores} cores`, `${memoryGib} GiB`, os, `Node ${node}`, date].filter(Boolean).join(', ');
}

export function median(values: number[]): number {
  return percentile(values, 0.5);
}

export function percentile(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;
}
