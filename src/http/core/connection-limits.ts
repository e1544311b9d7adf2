// Limits the number of connections, in total and per client address.

import type { Socket } from 'node:net';
import { PlantStoreError } from '../../domain/errors.ts';
import { isLocalHost } from '../../lib/local-host.ts';
import type { SharedNumbers } from '../../lib/shared-numbers.ts';
import type { Trusted } from './client-address.ts';
import { connectionOf } from './connection.ts';

export const MAX_CONNECTIONS = 10_000;
export const MAX_OF_ONE_ADDRESS = MAX_CONNECTIONS / 10;
/** Key of the number of all connections. */
const ALL = 'connections';

/** Returns the number of open connections of all threads. */
export function countConnections(counts: SharedNumbers): number {
  return counts.read(ALL);
}

/**
 * Returns a function that counts a connection and returns the error if it must be refused. A proxy serves many clients
 * and is exempt. `counts` holds the numbers of all threads.
 */
export function createConnectionLimits(counts: SharedNumbers, isProxy: Trusted) {
  return (socket: Socket): PlantStoreError | undefined => {
    const { remoteAddress = '' } = socket;
    const isExempt = isLocalHost(remoteAddress) || isProxy(remoteAddress);
    const network = isExempt ? undefined : `${ALL} ${connectionOf(socket).network}`;
    const all = counts.add(ALL, 1);
    const own = network === undefined ? 0 : counts.add(network, 1);
    socket.on('close', () => {
      counts.add(ALL, -1);
      if (network !== undefined) counts.add(network, -1);
    });
    if (all > MAX_CONNECTIONS) return tooMany('The server has too many connections');
    return own > MAX_OF_ONE_ADDRESS
      ? tooMany(`Your address has more than ${MAX_OF_ONE_ADDRESS} connections`)
      : undefined;
  };
}

function tooMany(what: string): PlantStoreError {
  return new PlantStoreError('unavailable', `${what}. Retry later.`);
}
