// The keys of an identity provider, as its server last gave them. They go on working while it is out of reach.

import { createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { describeUrl } from '../lib/describe-url.ts';
import { createTokenBuckets, type Rate } from '../lib/token-bucket.ts';
import type { Observe } from '../observability/service-events.ts';

/** A key that the server no longer gives is taken for so long at most. */
export const REFRESH_MS = 5 * 60_000;
/** However many tokens with unknown keys come. */
const ASKED: Rate = { count: 10, periodMs: 60_000 };
/** Time for one reading of the keys. A request with an unknown key waits for it. */
export const TIMEOUT_MS = 3_000;
/** After a failure nobody waits for so long. */
const PAUSE_MS = 1_000;
const MAX_BYTES = 1024 * 1024;

export type JwksClient = ReturnType<typeof createJwksClient>;

interface JwksClientOptions {
  issuer: string;
  /** Without it, the issuer's metadata has it. */
  jwksUrl: string | undefined;
  observe: Observe;
  /** Monotonic clock. */
  now?: () => number;
  timeoutMs?: number;
}

export function createJwksClient(options: JwksClientOptions) {
  const { issuer, jwksUrl, observe, now = () => performance.now(), timeoutMs = TIMEOUT_MS } = options;
  const buckets = createTokenBuckets(1);
  let known: ReturnType<typeof createLocalJWKSet> | undefined;
  let underWay: Promise<void> | undefined;
  let pausedUntilMs = 0;
  let isFailing = false;
  const refresh = setInterval(() => void ask(), REFRESH_MS).unref(); // whether anybody comes or not

  return {
    /** Undefined as long as none could be read. */
    async keys() {
      if (!known) await ask();
      return known;
    },
    /** For a token whose key is not among them. */
    async newerKeys() {
      await ask();
      return known;
    },
    stop: () => clearInterval(refresh),
  };

  async function ask(): Promise<void> {
    if (underWay || now() < pausedUntilMs || !buckets.take('asked', ASKED, now()).granted) return underWay;
    underWay = readKeys().finally(() => {
      underWay = undefined;
    });
    return underWay;
  }

  async function readKeys(): Promise<void> {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const url = jwksUrl ?? (await discover(signal));
      const jwks = (await readJson(url, signal)) as JSONWebKeySet;
      known = createLocalJWKSet(jwks);
      if (isFailing) observe({ kind: 'keys_recovered' });
      isFailing = false;
    } catch (error) {
      if (!isFailing) observe({ kind: 'keys_failing', reason: reasonOf(error as Error) });
      isFailing = true;
      pausedUntilMs = now() + PAUSE_MS;
    }
  }

  /** By OpenID Connect, or else by RFC 8414. */
  async function discover(signal: AbortSignal): Promise<string> {
    const { origin, pathname } = new URL(issuer);
    const path = pathname.replace(/\/$/, '');
    const metadata = await readJson(`${origin}${path}/.well-known/openid-configuration`, signal).catch(() =>
      readJson(`${origin}/.well-known/oauth-authorization-server${path}`, signal),
    );
    const { issuer: named, jwks_uri: url } = metadata as { issuer?: unknown; jwks_uri?: unknown };
    if (named !== issuer) throw new Error(`its metadata is that of the issuer ${JSON.stringify(named)}`);
    if (typeof url !== 'string' || !URL.canParse(url)) throw new Error('its metadata has no jwks_uri');
    if (issuer.startsWith('https:') && !url.startsWith('https:')) throw new Error('its jwks_uri has no TLS');
    return url;
  }

  async function readJson(url: string, signal: AbortSignal): Promise<unknown> {
    const response = await fetch(url, { signal, redirect: 'error', headers: { accept: 'application/json' } });
    if (!response.ok) throw new Error(`${describeUrl(url)} answers ${response.status}`);
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) throw new Error(`${describeUrl(url)} answers more than ${MAX_BYTES} bytes`);
      chunks.push(chunk);
    }
    return JSON.parse(Buffer.concat(chunks).toString());
  }
}

/** `fetch` says only that it failed. */
function reasonOf({ message, cause }: Error): string {
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
