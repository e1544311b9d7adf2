// Limits the number of connections, in total and per client address.

import type { Socket } from 'node:net';
import { PlantStoreError } from '../../domain/errors.ts';
import { isLoopback, networkOf, type Trusted } from '../access/client-address.ts';

export const MAX_CONNECTIONS = 10_000;
export const MAX_OF_ONE_ADDRESS = MAX_CONNECTIONS / 10;

/**
 * Returns a function that counts a connection and returns the error if it must be refused. A proxy serves many clients
 * and is exempt.
 */
export function createConnectionLimits(isProxy: Trusted) {
  const byNetwork = new Map<string, number>();
  let all = 0;

  return (socket: Socket): PlantStoreError | undefined => {
    const { remoteAddress = '' } = socket;
    const network = isLoopback(remoteAddress) || isProxy(remoteAddress) ? undefined : networkOf(remoteAddress);
    all++;
    if (network !== undefined) add(network, 1);
    socket.on('close', () => {
      all--;
      if (network !== undefined) add(network, -1);
    });
    if (all > MAX_CONNECTIONS) return tooMany('The server has too many connections');
    return network !== undefined && (byNetwork.get(network) ?? 0) > MAX_OF_ONE_ADDRESS
      ? tooMany(`Your address has more than ${MAX_OF_ONE_ADDRESS} connections`)
      : undefined;
  };

  function add(network: string, count: 1 | -1): void {
    const sum = (byNetwork.get(network) ?? 0) + count;
    if (sum > 0) byNetwork.set(network, sum);
    else byNetwork.delete(network);
  }
}

function tooMany(what: string): PlantStoreError {
  return new PlantStoreError('unavailable', `${what}. Retry later.`);
}
