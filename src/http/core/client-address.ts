// Finds the client address of a request: the address of the connection, or the one that a trusted proxy reports.

import type { IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import ipaddr from 'ipaddr.js';

export type AddressOf = (raw: IncomingMessage) => string;

/** True for the address of a proxy whose `X-Forwarded-For` is trusted. */
export type Trusted = (address: string) => boolean;

/** Returns the check for trusted proxies. If a number of proxies is trusted, every connection comes from a proxy. */
export function createTrusted(trusted: string[] | number | undefined): Trusted {
  if (trusted === undefined) return () => false;
  if (typeof trusted === 'number') return () => true;
  const isTrusted = proxyAddress.compile(trusted);
  return (address) => parseAddress(address) !== undefined && isTrusted(address, 0);
}

/**
 * Returns the function that finds the address. For a number of proxies, it is the address that the outermost proxy saw.
 */
export function createAddressOf(trusted: string[] | number | undefined): AddressOf {
  if (trusted === undefined) return ({ socket }) => socket.remoteAddress ?? '';
  const isTrusted =
    typeof trusted === 'number' ? (_address: string, hop: number) => hop < trusted : proxyAddress.compile(trusted);
  return (raw) => {
    const reported = proxyAddress(raw, isTrusted);
    // The header can contain any text, and the address is logged.
    return parseAddress(reported) ? reported : (raw.socket.remoteAddress ?? '');
  };
}

/** Parses an address, with or without the port that some proxies add. Returns undefined for other text. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const address = /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d+$/, '$1');
  return ipaddr.isValid(address) ? ipaddr.process(address) : undefined;
}

/**
 * Returns the network to limit: an IPv4 address, or an IPv6 /64, since one client has 2^64 addresses. Empty if the
 * client is gone.
 */
export function networkOf(address: string): string {
  const parsed = parseAddress(address);
  if (!parsed) return '';
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toNormalizedString().split(':').slice(0, 4).join(':');
}
