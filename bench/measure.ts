// What /proc of Linux tells about a process and all that it has started, and the middle of several measurements.
// Elsewhere than on Linux nothing is known, and `undefined` says so.

import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export const hasProc = process.platform === 'linux';
/** Below this share of one core nobody is at work. */
const IDLE_SHARE = 0.05;
const IDLE_WITHIN_MS = 100;

export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

export function percentile(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
}

/** The process and all below it. */
export function treeOf(root: number): number[] {
  if (!hasProc) return [root];
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const stat = readIfThere(`/proc/${name}/stat`);
    parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
  }
  const tree = [root];
  for (const above of tree) for (const [pid, parent] of parents) if (parent === above) tree.push(pid);
  return tree;
}

/** Processor time of all threads of a tree so far. The scheduler's own count: `stat` has hundredths of a second. */
export function cpuUsOf(root: number): number | undefined {
  if (!hasProc) return undefined;
  let ns = 0;
  for (const pid of treeOf(root)) {
    for (const thread of threadsOf(pid))
      ns += Number(readIfThere(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]);
  }
  return ns / 1000;
}

/** Memory of a tree in use now. What its processes share is counted once: as much as the one that has most of it. */
export function rssMibOf(root: number): number | undefined {
  if (!hasProc) return undefined;
  const all = treeOf(root).map((pid) => readIfThere(`/proc/${pid}/status`));
  const kib = (status: string, key: string) => Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
  const own = all.reduce((sum, status) => sum + kib(status, 'RssAnon'), 0);
  const shared = Math.max(...all.map((status) => kib(status, 'RssFile') + kib(status, 'RssShmem')));
  return (own + shared) / 1024;
}

/** The most that one process has ever had. */
export function peakMibOf(pid: number): number | undefined {
  const kib = /VmHWM:\s+(\d+)/.exec(readIfThere(`/proc/${pid}/status`))?.[1];
  return kib === undefined ? undefined : Number(kib) / 1024;
}

/** Until none of these trees has more to do, or the time is over. */
export async function untilIdle(roots: number[], timeoutMs: number): Promise<void> {
  const used = () => roots.reduce((sum, root) => sum + (cpuUsOf(root) ?? 0), 0);
  const deadlineMs = performance.now() + timeoutMs;
  while (performance.now() < deadlineMs) {
    const beforeUs = used();
    await sleep(IDLE_WITHIN_MS);
    if (used() - beforeUs < IDLE_SHARE * IDLE_WITHIN_MS * 1000) return;
  }
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Returns the text of a file, or an empty one if there is none: a process may have ended meanwhile. */
export function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
