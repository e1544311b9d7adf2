// Whose request it is: the address of the connection, or what a proxy that is trusted says of it.

import type { IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import ipaddr from 'ipaddr.js';

export type AddressOf = (raw: IncomingMessage) => string;

/** Of a number of proxies: the address that the last of them saw. */
export function createAddressOf(trusted: string[] | number | undefined): AddressOf {
  if (trusted === undefined) return ({ socket }) => socket.remoteAddress ?? '';
  const isTrusted =
    typeof trusted === 'number' ? (_address: string, hop: number) => hop < trusted : proxyAddress.compile(trusted);
  return (raw) => {
    const said = proxyAddress(raw, isTrusted);
    return parseAddress(said) ? said : (raw.socket.remoteAddress ?? ''); // it may be any text, and is written into a log
  };
}

/** Some proxies add the port. Undefined where it is no address. */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const address = /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d+$/, '$1');
  return ipaddr.isValid(address) ? ipaddr.process(address) : undefined;
}
