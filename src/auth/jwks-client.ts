// Reads and caches the keys of an identity provider. Cached keys keep working while the provider is unreachable.

import { createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { describeUrl } from '../lib/describe-url.ts';
import { SharedNumbers } from '../lib/shared-numbers.ts';
import { type Rate, takeFromBucket } from '../lib/token-bucket.ts';
import type { Observe } from '../observability/service-events.ts';

/** Interval for reloading the keys, and the longest time for which a withdrawn key is still accepted. */
export const REFRESH_MS = 5 * 60_000;
/** Maximum rate of requests to the provider, for any number of tokens with unknown keys. */
const MAX_RATE: Rate = { count: 10, periodMs: 60_000 };
/** Timeout for reading the keys. A request with an unknown key waits for the result. */
export const TIMEOUT_MS = 3_000;
/** Time after a failure in which the client does not contact the provider, so that no request waits. */
const PAUSE_MS = 1_000;
const MAX_BYTES = 1024 * 1024;

export type JwksClient = ReturnType<typeof createJwksClient>;

interface JwksClientOptions {
  issuer: string;
  /** URL of the keys. Without it, the client reads the URL from the issuer's metadata. */
  jwksUrl: string | undefined;
  observe: Observe;
  /** Monotonic clock. */
  now?: () => number;
  timeoutMs?: number;
}

export function createJwksClient(options: JwksClientOptions) {
  const { issuer, jwksUrl, observe, now = () => performance.now(), timeoutMs = TIMEOUT_MS } = options;
  const buckets = new SharedNumbers(1);
  let known: ReturnType<typeof createLocalJWKSet> | undefined;
  let inProgress: Promise<void> | undefined;
  let pausedUntilMs = 0;
  const timer = setInterval(() => void refreshKeys(), REFRESH_MS).unref();

  return {
    /** Returns the keys, or undefined if they could not be read yet. */
    async keys() {
      if (!known) await refreshKeys();
      return known;
    },
    /** Reloads the keys, for a token whose key is unknown. */
    async newerKeys() {
      await refreshKeys();
      return known;
    },
    stop: () => clearInterval(timer),
  };

  async function refreshKeys(): Promise<void> {
    if (inProgress || now() < pausedUntilMs || !takeFromBucket(buckets, 'keys', MAX_RATE, now()).granted)
      return inProgress;
    inProgress = readKeys().finally(() => {
      inProgress = undefined;
    });
    return inProgress;
  }

  async function readKeys(): Promise<void> {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const url = jwksUrl ?? (await discover(signal));
      const jwks = (await readJson(url, signal)) as JSONWebKeySet;
      known = createLocalJWKSet(jwks);
      observe({ kind: 'keys_recovered' });
    } catch (error) {
      observe({ kind: 'keys_failing', reason: reasonOf(error as Error) });
      pausedUntilMs = now() + PAUSE_MS;
    }
  }

  /** Returns the URL of the keys from the OpenID Connect metadata, or else from the RFC 8414 metadata. */
  async function discover(signal: AbortSignal): Promise<string> {
    const { origin, pathname } = new URL(issuer);
    const path = pathname.replace(/\/$/, '');
    const metadata = await readJson(`${origin}${path}/.well-known/openid-configuration`, signal).catch(() =>
      readJson(`${origin}/.well-known/oauth-authorization-server${path}`, signal),
    );
    const { issuer: named, jwks_uri: url } = metadata as { issuer?: unknown; jwks_uri?: unknown };
    if (named !== issuer) throw new Error(`The metadata names another issuer: ${JSON.stringify(named)}`);
    if (typeof url !== 'string' || !URL.canParse(url)) throw new Error('The metadata has no jwks_uri');
    if (issuer.startsWith('https:') && !url.startsWith('https:'))
      throw new Error('The jwks_uri in the metadata does not use https');
    return url;
  }

  async function readJson(url: string, signal: AbortSignal): Promise<unknown> {
    const response = await fetch(url, { signal, redirect: 'error', headers: { accept: 'application/json' } });
    if (!response.ok) throw new Error(`${describeUrl(url)} returned status ${response.status}`);
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) throw new Error(`${describeUrl(url)} returned more than ${MAX_BYTES} bytes`);
      chunks.push(chunk);
    }
    return JSON.parse(Buffer.concat(chunks).toString());
  }
}

/** Returns the message with its cause: the message of a `fetch` error alone gives no reason. */
function reasonOf({ message, cause }: Error): string {
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
