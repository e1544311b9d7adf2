// Starts containers of the project's image as docs/guides/install.md recommends, and removes them at the end.

import { atEndOfFile } from '../clean-up.ts';
import { freePort } from '../free-port.ts';
import { type Call, callerOf, send } from '../request.ts';
import { until } from '../until.ts';
import { podman, podmanOutput, type Ran } from './engine.ts';

/** Nothing but the volume is writable, as with Docker. By default podman makes folders such as /tmp writable. */
const LOCKED_DOWN = ['--read-only', '--read-only-tmpfs=false', '--cap-drop=ALL', '--security-opt=no-new-privileges'];

export interface PlantStoreContainer {
  name: string;
  port: number;
  /** Creates a token in the container and returns its secret. */
  createToken(): Promise<string>;
  call(secret: string): Call;
  logs(): Promise<string>;
  remove(): Promise<void>;
}

let containers = 0;

/** Starts a container on a volume and waits until it is ready. */
export async function startContainer(image: string, volume: string): Promise<PlantStoreContainer> {
  const name = `${image}-${++containers}`;
  const port = await freePort();
  atEndOfFile(async () => {
    await podman('rm', '--force', '--volumes', name);
    await podman('volume', 'rm', '--force', volume);
  });
  const publish = `--publish=127.0.0.1:${port}:3000`;
  await podmanOutput('run', '--detach', `--name=${name}`, ...LOCKED_DOWN, `--volume=${volume}:/data`, publish, image);
  await untilReady(port);
  return {
    name,
    port,
    createToken: () => podmanOutput('exec', name, 'plant-store', 'token', 'create', '--name', 'me'),
    call: (secret) => callerOf({ port }, secret),
    logs: () => podmanOutput('logs', name),
    async remove() {
      await podmanOutput('rm', '--force', name);
    },
  };
}

/** Runs a container that ends by itself, and removes it. podman kills it after 30 s. */
export function runToEnd(image: string, ...options: string[]): Promise<Ran> {
  return podman('run', '--rm', '--timeout=30', ...options, image);
}

export function untilReady(port: number): Promise<true> {
  return until(() =>
    send(port, { path: '/readyz' }).then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
}
