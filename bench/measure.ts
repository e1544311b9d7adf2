// Reads CPU time and memory of a process tree from Linux's /proc, and computes medians and percentiles.
// On other systems the values are `undefined`.

import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export const hasProc = process.platform === 'linux';
/** Share of one core below which a process tree counts as idle. */
const IDLE_SHARE = 0.05;
const IDLE_WITHIN_MS = 100;

export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

export function percentile(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
}

/** Returns the process and all its descendants. */
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

/** Returns the CPU time of all threads of a tree, from the scheduler. `stat` has a resolution of only 10 ms. */
export function cpuUsOf(root: number): number | undefined {
  if (!hasProc) return undefined;
  let ns = 0;
  for (const pid of treeOf(root)) {
    for (const thread of threadsOf(pid))
      ns += Number(readIfThere(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]);
  }
  return ns / 1000;
}

/** Returns the current memory of a tree. Shared memory counts once, with the share of the process that has the most. */
export function rssMibOf(root: number): number | undefined {
  if (!hasProc) return undefined;
  const all = memoryOf(root);
  return (sum(all.map(({ own }) => own)) + Math.max(...all.map(({ shared }) => shared))) / 1024;
}

/**
 * Returns the peak memory of a tree since its start. For one process, it is the kernel's VmHWM. In a tree, shared memory
 * counts once, and the peaks are added up although they can be at different times.
 */
export function peakMibOf(root: number): number | undefined {
  if (!hasProc) return undefined;
  const all = memoryOf(root);
  return (sum(all.map(({ peak, shared }) => peak - shared)) + Math.max(...all.map(({ shared }) => shared))) / 1024;
}

/** Returns the memory of each process of a tree in KiB. */
function memoryOf(root: number): { own: number; shared: number; peak: number }[] {
  return treeOf(root).map((pid) => {
    const status = readIfThere(`/proc/${pid}/status`);
    const kib = (key: string) => Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
    return { own: kib('RssAnon'), shared: kib('RssFile') + kib('RssShmem'), peak: kib('VmHWM') };
  });
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Waits until all trees are idle, or until the timeout. */
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

/** Returns the text of a file, or an empty string if it does not exist, since a process may end at any time. */
export function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
