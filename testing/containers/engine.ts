// Runs podman for tests, with a storage of its own: it neither sees nor changes the images and containers of the
// machine. The storage is kept, so that the base images in it are made only once.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { findCommand } from '../find-command.ts';

/** Folder that is kept between runs. */
export const CACHE =
  process.env.PLANT_STORE_CONTAINERS_CACHE ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'plant-store-containers');

/** Open files and processes of a container. podman's own default exceeds what some machines allow. */
const MAX_OF_CONTAINER = 4096;
export const ENGINE_ENV = {
  CONTAINERS_CONF: join(CACHE, 'containers.conf'),
  CONTAINERS_STORAGE_CONF: join(CACHE, 'storage.conf'),
  BUILDAH_FORMAT: 'docker', // the format of OCI has no health check
};

export interface Ran {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Returns why no container of an image can be started here, or undefined. Writes the settings that `podman` uses. */
export async function whyNoContainers(makeImage: () => Promise<string>): Promise<string | undefined> {
  if (findCommand('podman') === undefined) return 'podman is missing';
  writeSettings();
  try {
    await podmanOutput('run', '--rm', await makeImage(), 'true');
    return undefined;
  } catch (error) {
    return lastLine((error as Error).message);
  }
}

/** Runs podman and returns what it printed. */
export function podman(...args: string[]): Promise<Ran> {
  return run('podman', args);
}

/** Runs podman and returns its standard output. Fails if podman fails. */
export async function podmanOutput(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await podman(...args);
  if (status !== 0) throw new Error(`podman ${args.join(' ')} ended with ${status}: ${stderr.trim()}`);
  return stdout.trim();
}

/** Runs a command that uses podman. */
export async function run(command: string, args: string[], env: NodeJS.ProcessEnv = {}, cwd?: string): Promise<Ran> {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...ENGINE_ENV, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = await Promise.all([child.stdout.toArray(), child.stderr.toArray(), once(child, 'close')]);
  return { status: child.exitCode, stdout: stdout.join(''), stderr: stderr.join('') };
}

export function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}

function writeSettings(): void {
  mkdirSync(CACHE, { recursive: true });
  const inCache = (name: string) => JSON.stringify(join(CACHE, name));
  const limits = ['nofile', 'nproc'].map((name) => `${name}=${MAX_OF_CONTAINER}:${MAX_OF_CONTAINER}`);
  const runtime = findCommand('runc') === undefined ? '' : 'runtime = "runc"\n'; // works with more kinds of cgroups
  writeFileSync(
    ENGINE_ENV.CONTAINERS_CONF,
    `[containers]
default_ulimits = ${JSON.stringify(limits)}
[engine]
${runtime}cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = ${inCache('run/libpod')}
[network]
network_config_dir = ${inCache('networks')}
`,
  );
  writeFileSync(
    ENGINE_ENV.CONTAINERS_STORAGE_CONF,
    `[storage]
driver = "overlay"
graphroot = ${inCache('storage')}
runroot = ${inCache('run/storage')}
`,
  );
}
