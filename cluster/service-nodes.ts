// The service nodes: one process per name, all on one database, each with a fixed port.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { LAUNCHER } from '../testing/launch.ts';
import { eventually, freePorts, type Machine } from './machine.ts';

/** Launcher of the build under test. A control of the failover trial sets another one. */
const TRIED_LAUNCHER = process.env.CLUSTER_LAUNCHER ?? LAUNCHER;
const READY_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 12_000;

export type ServiceNode = ReturnType<typeof createServiceNode>;

export async function createServiceNodes(
  machine: Machine,
  names: string[],
  launcher = TRIED_LAUNCHER,
): Promise<ServiceNode[]> {
  const ports = await freePorts(names.length);
  return names.map((name, index) => createServiceNode(machine, launcher, name, ports[index] ?? 0));
}

function createServiceNode(machine: Machine, launcher: string, name: string, port: number) {
  let child: ChildProcess | undefined;
  return {
    name,
    port,
    async start(databaseUrl: string): Promise<void> {
      const env = { PORT: String(port), DATABASE_URL: databaseUrl };
      child = machine.start(name, process.execPath, [launcher, 'serve'], env);
      await eventually(`${name} is ready`, READY_WITHIN_MS, async () => {
        return (await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(1000) })).ok || undefined;
      });
    },
    /** Sends SIGTERM. Throws if the process does not end in time with status 0. */
    async stop(): Promise<void> {
      if (!child || endOf(child)) throw new Error(`${name} is not running`);
      child.kill('SIGTERM');
      const [status, signal] = await once(child, 'exit', { signal: AbortSignal.timeout(STOP_WITHIN_MS) });
      if (status !== 0) throw new Error(`${name} did not stop cleanly: ${status ?? signal}`);
      child = undefined;
    },
    kill(): void {
      child?.kill('SIGKILL');
      child = undefined;
    },
    /** Returns the exit status or signal if the process ended by itself. */
    ended: () => child && endOf(child),
  };
}

function endOf({ exitCode, signalCode }: ChildProcess): string | undefined {
  return signalCode ?? exitCode?.toString();
}
