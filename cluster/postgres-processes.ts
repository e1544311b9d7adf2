// The processes of a PostgreSQL server: Patroni starts them, so they are not our children. They are programs of
// PostgreSQL that work in a folder of ours, as nobody else's do.

import { globSync, readdirSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';

export const POSTGRES_SERVERS = '/usr/lib/postgresql/*/bin/postgres';
const END_WITHIN_MS = 10_000;

/** Of the newest PostgreSQL there is. */
export function postgresBin(): string {
  const byAge = globSync(POSTGRES_SERVERS).sort(new Intl.Collator('en', { numeric: true }).compare);
  return dirname(byAge.at(-1) ?? '');
}

/** SIGKILL until there is none: one may just be starting another. */
export function killPostgresIn(folder: string): void {
  const endMs = performance.now() + END_WITHIN_MS;
  while (signalPostgresIn(folder, 'SIGKILL') > 0) {
    if (performance.now() > endMs) throw new Error(`There are processes in ${folder} that do not end`);
  }
}

/** Gives how many there were. */
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
    return ''; // it has ended, or is somebody else's
  }
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it has ended before
  }
}
