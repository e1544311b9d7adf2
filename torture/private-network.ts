// A network namespace for a server and its clients, with addresses other than loopback and with small socket buffers.
// Only root on Linux can create one.

import { spawnSync } from 'node:child_process';
import type { TestServer } from '../testing/server.ts';

export const whyNoPrivateNetwork = findObstacle();

function findObstacle(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'only root on Linux can create a network namespace';
  const missing = ['unshare', 'nsenter', 'ip'].find((command) => spawnSync(command, ['-V']).error);
  if (missing) return `${missing} is missing: run apt-get install util-linux iproute2`;
  return spawnSync('unshare', ['-n', 'true']).status === 0
    ? undefined
    : 'this system does not allow network namespaces';
}

export interface PrivateNetwork {
  /** Addresses in addition to 127.0.0.1 and ::1. They exist only in this namespace. */
  addresses?: string[];
  /** Maximum number of bytes that the kernel buffers for each direction of a connection. */
  bufferBytes?: number;
}

/** Returns the command prefix that starts a server in a new namespace. */
export function privateNetwork({ addresses = [], bufferBytes }: PrivateNetwork): string[] {
  const lines = ['ip link set lo up', ...addresses.map((address) => `ip addr add ${address} dev lo`)];
  if (bufferBytes !== undefined) {
    const sizes = `4096 ${bufferBytes} ${bufferBytes}`;
    lines.push(...['rmem', 'wmem'].map((name) => `echo '${sizes}' > /proc/sys/net/ipv4/tcp_${name}`));
  }
  return ['unshare', '-n', 'sh', '-e', '-c', `${lines.join('\n')}\nexec "$@"`, 'sh'];
}

/** Returns the command prefix that runs a command in the server's namespace. */
export function inNetworkOf({ process: { pid } }: TestServer): string[] {
  return ['nsenter', `--net=/proc/${pid}/ns/net`];
}
