// Describes the machine of a measurement. Results are meaningless without it.

import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { arch, availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { median, readIfThere } from './measure.ts';

const FSYNCS = 100;

export interface Machine {
  cpu: string;
  cores: number;
  memoryGib: number;
  /** File system of the databases. */
  disk: string;
  /** Median time to write and sync 4 KiB on that disk. */
  fsyncMs: number;
  os: string;
  node: string;
}

/** Returns the machine. `folder` is the location of the databases. */
export function readMachine(folder: string): Machine {
  return {
    cpu: `${cpuModel()} (${arch()})`,
    cores: availableParallelism(),
    memoryGib: Math.round(totalmem() / 2 ** 30),
    disk: fileSystemOf(folder),
    fsyncMs: Number(measureFsync(join(folder, 'fsync')).toFixed(2)),
    os: `${osName()} (${type()} ${release().split('-')[0]})`,
    node: process.version,
  };
}

export function describeMachine({ cpu, cores, memoryGib, disk, fsyncMs, os, node }: Machine): string {
  return `${cpu}, ${cores} cores, ${memoryGib} GiB, ${disk} (fsync ${fsyncMs} ms), ${os}, Node ${node}`;
}

function cpuModel(): string {
  const [cpu] = cpus();
  if (cpu && !/^(unknown|)$/.test(cpu.model.trim())) return cpu.model.trim();
  const info = readIfThere('/proc/cpuinfo');
  const part = /CPU part\s*: (\S+)/.exec(info)?.[1];
  return part === undefined ? 'unknown' : `CPU part ${part}`;
}

/** Returns the type of the mount nearest to the folder. */
function fileSystemOf(folder: string): string {
  const mounts = readIfThere('/proc/mounts')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, on = '-']) => `${folder}/`.startsWith(on === '/' ? '/' : `${on}/`))
    .sort(([, a = ''], [, b = '']) => b.length - a.length);
  return mounts[0]?.[2] ?? 'unknown';
}

function osName(): string {
  return /PRETTY_NAME="(.+)"/.exec(readIfThere('/etc/os-release'))?.[1] ?? type();
}

function measureFsync(path: string): number {
  const file = openSync(path, 'w');
  const block = Buffer.alloc(4096);
  const times: number[] = [];
  for (let n = 0; n < FSYNCS; n++) {
    const startMs = performance.now();
    writeSync(file, block);
    fsyncSync(file);
    times.push(performance.now() - startMs);
  }
  closeSync(file);
  rmSync(path);
  return median(times);
}
