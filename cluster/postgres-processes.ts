// The processes of a PostgreSQL server. Patroni starts them, so they are not our children. They are identified by the
// PostgreSQL binary and a working directory in our folder.

import { globSync, readdirSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';

export const POSTGRES_SERVERS = '/usr/lib/postgresql/*/bin/postgres';
const END_WITHIN_MS = 10_000;

/** Returns the folder with the binaries of the newest installed PostgreSQL. */
export function postgresBin(): string {
  const byAge = globSync(POSTGRES_SERVERS).sort(new Intl.Collator('en', { numeric: true }).compare);
  return dirname(byAge.at(-1) ?? '');
}

/** Sends SIGKILL until no process is left, because a process may just be starting another. */
export function killPostgresIn(folder: string): void {
  const endMs = performance.now() + END_WITHIN_MS;
  while (signalPostgresIn(folder, 'SIGKILL') > 0) {
    if (performance.now() > endMs) throw new Error(`Processes in ${folder} do not exit after SIGKILL`);
  }
}

/** Sends the signal to all processes, and returns their number. */
export function signalPostgresIn(folder: string, signal: NodeJS.Signals): number {
  const pids = postgresIn(folder);
  for (const pid of pids) sendSignal(pid, signal);
  return pids.length;
}

function postgresIn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => isWithin(postgresBin(), linkOf(pid, 'exe')) && isWithin(folder, linkOf(pid, 'cwd')))
    .map(Number);
}

function linkOf(pid: string, name: 'cwd' | 'exe'): string {
  try {
    return readlinkSync(`/proc/${pid}/${name}`);
  } catch {
    return ''; // the process has ended, or belongs to another user
  }
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // the process has ended
  }
}
