// Whose request it is: the address of the connection, or what a proxy that is trusted says of it.

import type { IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';

export type AddressOf = (raw: IncomingMessage) => string;

/** Of a number of proxies: the address that the last of them saw. */
export function createAddressOf(trusted: string[] | number | undefined): AddressOf {
  if (trusted === undefined) return ({ socket }) => socket.remoteAddress ?? '';
  const isTrusted =
    typeof trusted === 'number' ? (_address: string, hop: number) => hop < trusted : proxyAddress.compile(trusted);
  return (raw) => proxyAddress(raw, isTrusted);
}
