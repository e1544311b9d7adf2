// Stops an export in the middle of its work, so that others can overlap with it or interrupt it.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEndOfFile } from './clean-up.ts';
import { LAUNCHER } from './server.ts';

/** Starts an export, and stops its process when a file in the folder has grown. Retries if the export was complete. */
export async function startStopped(
  file: string,
  env: Record<string, string>,
  launcher = LAUNCHER,
): Promise<ChildProcess> {
  for (;;) {
    const before = sizesIn(dirname(file));
    const child = spawn(process.execPath, [launcher, 'export', file], { env: { PATH: process.env.PATH, ...env } });
    atEndOfFile(() => void child.kill('SIGKILL'));
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk));
    const isGrowing = () => [...sizesIn(dirname(file))].some(([name, size]) => size > (before.get(name) ?? 0));
    while (child.exitCode === null && !isGrowing()) await sleep(1);
    child.kill('SIGSTOP');
    await sleep(5);
    if (child.exitCode === null && !printed.includes('"plants"')) return child;
    if (child.exitCode !== null && child.exitCode !== 0) throw new Error(`The export failed: ${printed}`);
    await endOf(child);
  }
}

/** Continues a stopped process and waits for its end. */
export async function endOf(child: ChildProcess): Promise<[status: number | null, signal: string | null]> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit');
    child.kill('SIGCONT');
    await ended;
  }
  return [child.exitCode, child.signalCode];
}

function sizesIn(folder: string): Map<string, number> {
  const size = (name: string) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
  return new Map(readdirSync(folder).map((name) => [name, size(name)]));
}
