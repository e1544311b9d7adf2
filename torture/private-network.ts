// A network of its own for a server and its clients: with addresses that are not loopback, and with small socket buffers.
// Only root on Linux can make one.

import { spawnSync } from 'node:child_process';
import type { TestServer } from '../testing/server.ts';

export const whyNoPrivateNetwork = findObstacle();

function findObstacle(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'only root on Linux can make a network namespace';
  const missing = ['unshare', 'nsenter', 'ip'].find((command) => spawnSync(command, ['-V']).error);
  if (missing) return `${missing} is missing: apt-get install util-linux iproute2`;
  return spawnSync('unshare', ['-n', 'true']).status === 0 ? undefined : 'no network namespace may be made here';
}

export interface PrivateNetwork {
  /** Besides 127.0.0.1 and ::1; they exist nowhere else. */
  addresses?: string[];
  /** Most bytes that the system buffers for each direction of a connection. */
  bufferBytes?: number;
}

/** For the start of a server. */
export function privateNetwork({ addresses = [], bufferBytes }: PrivateNetwork): string[] {
  const lines = ['ip link set lo up', ...addresses.map((address) => `ip addr add ${address} dev lo`)];
  if (bufferBytes !== undefined) {
    const sizes = `4096 ${bufferBytes} ${bufferBytes}`;
    lines.push(...['rmem', 'wmem'].map((name) => `echo '${sizes}' > /proc/sys/net/ipv4/tcp_${name}`));
  }
  return ['unshare', '-n', 'sh', '-e', '-c', `${lines.join('\n')}\nexec "$@"`, 'sh'];
}

/** For a command that has to reach that server. */
export function inNetworkOf({ process: { pid } }: TestServer): string[] {
  return ['nsenter', `--net=/proc/${pid}/ns/net`];
}
