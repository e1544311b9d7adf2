// Checks the addresses that a webhook may point to: public addresses over https, and private networks if the operator
// allows them.

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { PlantStoreError } from '../domain/errors.ts';
import { MAX_URL_CHARS } from '../domain/webhook.ts';
import { withDeadline } from '../lib/deadline.ts';

const HTTPS_ONLY = 'must begin with https:// (WEBHOOK_ALLOW_PRIVATE=1 allows http:// in private networks)';
/** Maximum time that adding a webhook waits for DNS. Each connection resolves the name again. */
const RESOLVE_TIMEOUT_MS = 2000;
const PRIVATE = new Set(['loopback', 'private', 'linkLocal', 'uniqueLocal', 'carrierGradeNat']);

/** An IP address and its family, 4 or 6. */
export type Address = { address: string; family: number };
/** Returns all addresses of a host name. */
export type Resolve = (hostname: string) => Promise<Address[]>;

/** Checks the targets of webhooks. */
export type TargetGuard = ReturnType<typeof createTargetGuard>;

/** Returns a target guard. `allowPrivate` allows private networks, with http as well. */
export function createTargetGuard(options: { allowPrivate: boolean; resolve?: Resolve }) {
  const { allowPrivate, resolve = (hostname) => lookup(hostname, { all: true }) } = options;
  return {
    /**
     * Returns the normalized URL. Throws `not_valid` if it is not allowed. An unknown name is: it may resolve later.
     */
    async check(text: string): Promise<string> {
      const url = readUrl(text, allowPrivate);
      const found = withDeadline(addressesOf(url), RESOLVE_TIMEOUT_MS, () => undefined);
      await found.catch((error: NodeJS.ErrnoException) => {
        if (error instanceof ForbiddenTarget) throw invalidUrl(error.message);
        if (error.code === undefined) throw error; // DNS errors have a code, so this is a bug
      });
      return url.href;
    },
    addressesOf,
  };

  /** Returns the addresses to connect to. Throws `ForbiddenTarget` if any of them is not allowed. */
  async function addressesOf(url: URL): Promise<Address[]> {
    const literal = literalOf(url);
    const family = isIP(literal);
    const addresses = family ? [{ address: literal, family }] : await resolve(url.hostname);
    for (const { address } of addresses) requireAllowed(address, url.protocol);
    return addresses;
  }

  function requireAllowed(address: string, protocol: string): void {
    const range = rangeOf(address);
    if (PRIVATE.has(range)) {
      if (allowPrivate) return;
      throw new ForbiddenTarget(`must not point to a private network (${address}) unless WEBHOOK_ALLOW_PRIVATE=1`);
    }
    if (range !== 'unicast') throw new ForbiddenTarget(`must not point to ${address}, which is not a public address`);
    if (protocol !== 'https:') throw new ForbiddenTarget(HTTPS_ONLY);
  }
}

/** The only IPv6 range that is assigned to networks. `ipaddr.js` treats unknown ranges as unicast. */
const GLOBAL_V6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Public ranges that only machines inside a cloud can reach: Azure's platform, IBM's services. */
const PLATFORMS = ['168.63.129.16/32', '161.26.0.0/16', '166.8.0.0/14'].map((range) => ipaddr.IPv4.parseCIDR(range));

function rangeOf(address: string): string {
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (range !== 'unicast') return range;
  if (parsed instanceof ipaddr.IPv6) return parsed.match(GLOBAL_V6) && !isIsatap(parsed) ? range : 'reserved';
  return PLATFORMS.some((platform) => parsed.match(platform)) ? 'private' : range;
}

/** True if the second half holds an IPv4 address (RFC 5214), regardless of the network in the first half. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return (parts[4] === 0 || parts[4] === 0x200) && parts[5] === 0x5efe;
}

/** Returns the host without the brackets of IPv6. */
export function literalOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Thrown for an address that is not allowed. The message continues the words "The URL". */
export class ForbiddenTarget extends Error {}

function readUrl(text: string, allowPrivate: boolean): URL {
  if (text.length > MAX_URL_CHARS) throw invalidUrl(`must not be longer than ${MAX_URL_CHARS} characters`);
  const url = URL.parse(text);
  if (!url || !/^https?:\/\//i.test(text) || url.hostname === '')
    throw invalidUrl('must be a URL such as https://example.com/plants');
  if (url.protocol !== 'https:' && !allowPrivate) throw invalidUrl(HTTPS_ONLY);
  if (url.username !== '' || url.password !== '') throw invalidUrl('must not contain a user name or a password');
  if (text.includes('#')) throw invalidUrl('must not contain a "#"');
  return url;
}

function invalidUrl(finding: string): PlantStoreError {
  return new PlantStoreError('not_valid', `"url" ${finding}`);
}
