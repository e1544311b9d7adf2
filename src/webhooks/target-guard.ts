// Where a webhook may point: https to public addresses, and with the operator's consent also into private networks.

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { PlantStoreError } from '../domain/errors.ts';
import { MAX_URL_CHARS } from '../domain/webhook.ts';
import { withDeadline } from '../lib/deadline.ts';

const HTTPS_ONLY = 'must begin with https://; WEBHOOK_ALLOW_PRIVATE=1 allows http:// into private networks';
/** Who adds a webhook waits no longer for its name: it is looked up again for each connection. */
const LOOK_UP_WITHIN_MS = 2000;
const PRIVATE = new Set(['loopback', 'private', 'linkLocal', 'uniqueLocal', 'carrierGradeNat']);

export interface Address {
  address: string;
  family: number;
}

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<Address[]>;

export const resolveName: Resolve = (hostname) => lookup(hostname, { all: true });

export interface Targets {
  /**
   * Gives the URL as it is kept. Throws `not_valid` for one that could never be sent to; one whose name is not known now
   * may be, later.
   */
  check(url: string): Promise<string>;
  /** Those to connect to. Throws when any of them is out of bounds: a name must not lead to where its URL may not. */
  addressesOf(url: URL): Promise<Address[]>;
}

export function createTargets(options: { allowPrivate: boolean; resolve?: Resolve }): Targets {
  const { allowPrivate, resolve = resolveName } = options;
  return {
    async check(text) {
      const url = readUrl(text, allowPrivate);
      const found = withDeadline(addressesOf(url), LOOK_UP_WITHIN_MS, () => undefined);
      await found.catch((error: NodeJS.ErrnoException) => {
        if (error instanceof ForbiddenTarget) throw refuse(error.message);
        if (error.code === undefined) throw error; // nothing that a name server says
      });
      return url.href;
    },
    addressesOf,
  };

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
      throw new ForbiddenTarget(`must not lead into a private network (${address}); WEBHOOK_ALLOW_PRIVATE=1 allows it`);
    }
    if (range !== 'unicast') throw new ForbiddenTarget(`must not lead to ${address}, which is no public address`);
    if (protocol !== 'https:') throw new ForbiddenTarget(HTTPS_ONLY);
  }
}

/** All addresses of IPv6 that anybody has been given; what the library knows nothing of is outside. */
const GLOBAL_V6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Public by their number, yet only machines inside a cloud reach them: Azure's platform, IBM's services. */
const PLATFORMS = ['168.63.129.16/32', '161.26.0.0/16', '166.8.0.0/14'].map((range) => ipaddr.IPv4.parseCIDR(range));

function rangeOf(address: string): string {
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (range !== 'unicast') return range;
  if (parsed instanceof ipaddr.IPv6) return parsed.match(GLOBAL_V6) && !isIsatap(parsed) ? range : 'reserved';
  return PLATFORMS.some((platform) => parsed.match(platform)) ? 'private' : range;
}

/** Its last half names an address of IPv4 (RFC 5214), whatever network the first half names. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return (parts[4] === 0 || parts[4] === 0x200) && parts[5] === 0x5efe;
}

/** The host without the brackets of IPv6. */
export function literalOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** What it says goes on after "The URL". */
export class ForbiddenTarget extends Error {}

function readUrl(text: string, allowPrivate: boolean): URL {
  if (text.length > MAX_URL_CHARS) throw refuse(`must not be longer than ${MAX_URL_CHARS} characters`);
  const url = URL.parse(text);
  if (!url || !/^https?:\/\//i.test(text) || url.hostname === '')
    throw refuse('must be a URL such as https://example.com/plants');
  if (url.protocol !== 'https:' && !allowPrivate) throw refuse(HTTPS_ONLY);
  if (url.username !== '' || url.password !== '') throw refuse('must not hold a user name or a password');
  if (text.includes('#')) throw refuse('must not hold a "#"');
  return url;
}

function refuse(finding: string): PlantStoreError {
  return new PlantStoreError('not_valid', `"url" ${finding}`);
}
