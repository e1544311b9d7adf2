// Whose request it is: the address of the connection, or what a proxy that is trusted says of it.

import type { IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import ipaddr from 'ipaddr.js';

export type AddressOf = (raw: IncomingMessage) => string;

/** True for the address of a proxy whose `X-Forwarded-For` counts. */
export type Trusted = (address: string) => boolean;

/** Where a number of proxies is trusted, each connection is that of a proxy. */
export function createTrusted(trusted: string[] | number | undefined): Trusted {
  if (trusted === undefined) return () => false;
  if (typeof trusted === 'number') return () => true;
  const isTrusted = proxyAddress.compile(trusted);
  return (address) => parseAddress(address) !== undefined && isTrusted(address, 0);
}

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

export function isLoopback(address: string): boolean {
  return address === '127.0.0.1' || parseAddress(address)?.range() === 'loopback';
}

/** Whoever has an address of IPv6 has 2^64 of them. Of a client that is gone already, nothing is known. */
export function networkOf(address: string): string {
  const parsed = parseAddress(address);
  if (!parsed) return '';
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toNormalizedString().split(':').slice(0, 4).join(':');
}
