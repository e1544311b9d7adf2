// Traces or manipulates the system calls of a server with strace. strace is not the parent (-D): signals reach the server,
// and its exit status reaches us.

import { spawnSync } from 'node:child_process';
import { open } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';

const TAIL_MS = 50;

/** Reason why strace cannot be used here. */
export function whyNoStrace(): string | undefined {
  if (spawnSync('strace', ['-V']).error) return 'strace is missing: run apt-get install strace';
  const { status, stderr } = spawnSync('strace', ['-f', '--seccomp-bpf', 'true'], { encoding: 'utf8' });
  return status === 0 ? undefined : `strace is not allowed to trace: ${stderr.trim().split('\n').at(-1)}`;
}

/** Returns a wrapper that writes these system calls, with all their bytes, to a file. */
export function traced(calls: string, file: string): string[] {
  return ['strace', '-D', '-f', '-qq', '--seccomp-bpf', '-s', '5000', '-e', `trace=${calls}`, '-o', file];
}

export interface Tampering {
  /** Other system calls to trace. */
  calls?: string;
  /** File for the trace. */
  file?: string;
  /** Limits the fault, and the trace, to syncs of this file. */
  path?: string;
}

/** Returns a wrapper under which disk syncs fail or are slow, such as `error=EIO:when=6`. */
export function withSyncs(fault: string, { calls, file = '/dev/null', path }: Tampering = {}): string[] {
  const wrapper = traced(calls ?? 'fsync,fdatasync', file);
  return [...wrapper, '-e', `inject=fsync,fdatasync:${fault}`, ...(path === undefined ? [] : ['-P', path])];
}

/** Waits until the trace in this file has a manipulated call. */
export async function untilInjected(file: string, signal: AbortSignal): Promise<void> {
  await using trace = await open(file);
  const chunk = Buffer.alloc(1024 * 1024);
  for (let at = 0; !signal.aborted; ) {
    const { bytesRead } = await trace.read(chunk, 0, chunk.length, at);
    if (chunk.subarray(0, bytesRead).includes('(INJECTED)')) return;
    at += Math.max(0, bytesRead - '(INJECTED)'.length); // The text may be split between two reads.
    if (bytesRead < chunk.length) await setTimeout(TAIL_MS);
  }
}
