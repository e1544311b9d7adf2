// Runs docker-compose on podman, through podman's implementation of Docker's API.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEndOfFile } from '../clean-up.ts';
import { until } from '../until.ts';
import { ENGINE_ENV, podman, podmanOutput, type Ran, run } from './engine.ts';

export interface Compose {
  /** Runs a command of docker-compose. */
  compose(...args: string[]): Promise<Ran>;
  /** Returns the id of the container of a service, or an empty string. */
  containerOf(service: string): Promise<string>;
}

/** Starts podman's API for a project in a folder. */
export async function startCompose(project: string, folder: string): Promise<Compose> {
  const socket = join(mkdtempSync(join(tmpdir(), 'compose-')), 'podman.sock'); // a path of at most 107 characters
  const service = spawn('podman', ['system', 'service', '--time=0', `unix://${socket}`], {
    env: { ...process.env, ...ENGINE_ENV },
    stdio: 'ignore',
  });
  atEndOfFile(async () => {
    const ended = once(service, 'close');
    service.kill();
    await ended;
    rmSync(join(socket, '..'), { recursive: true, force: true });
  });
  await until(() => existsSync(socket));
  return {
    compose: (...args) => run('docker-compose', ['-p', project, ...args], { DOCKER_HOST: `unix://${socket}` }, folder),
    containerOf(name) {
      const labels = [`com.docker.compose.project=${project}`, `com.docker.compose.service=${name}`];
      return podmanOutput('ps', '--all', '--quiet', ...labels.map((label) => `--filter=label=${label}`));
    },
  };
}

/**
 * Runs the health check of a container every second until the returned function is called. podman leaves this to systemd,
 * which a machine in a container does not have.
 */
export function checkHealth(find: () => Promise<string>): () => Promise<void> {
  const end = new AbortController();
  const ended = (async () => {
    while (!end.signal.aborted) {
      const container = await find();
      if (container !== '') await podman('healthcheck', 'run', container);
      await new Promise((next) => setTimeout(next, 1000));
    }
  })();
  return () => {
    end.abort();
    return ended;
  };
}
