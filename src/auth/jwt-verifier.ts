// Verifies a JWT of the configured identity provider. Returns a Token or throws BadCredential, never another error: a
// fault in a client's text or at the key server is not a bug in the service.

import {
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose';
import { SCOPES } from '../domain/names.ts';
import { LAST_TIME_MS } from '../domain/time.ts';
import { BadCredential, isOneLine, type Token } from '../domain/token.ts';
import type { Rate } from '../lib/token-bucket.ts';
import type { JwksClient } from './jwks-client.ts';

export interface JwtOptions {
  issuer: string;
  /** Accepted audiences. A token must name at least one of them. */
  audience: string[];
  /** URL of the keys. Without it, the issuer's metadata provides the URL. */
  jwksUrl: string | undefined;
  /** Maximum rate of requests per subject. */
  rate: Rate | null;
}

/** Accepted algorithms: all without a shared secret. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');
export const LEEWAY_S = 30;
const MAX_SUBJECT_CHARS = 255;
/** Time for which a verified JWT is cached: the credential of a long request is checked twice per second. */
const VERIFIED_MS = 10_000;
const MAX_VERIFIED = 5_000;

export function createJwtVerifier(
  { issuer, audience, rate }: Pick<JwtOptions, 'issuer' | 'audience' | 'rate'>,
  jwksClient: JwksClient,
  clock: () => number = Date.now,
): (jwt: string) => Promise<Token> {
  /** Cache of verified JWTs: verification takes longer than the rest of a request. */
  const verified = new Map<string, { token: Token; untilMs: number }>();

  return async (jwt) => {
    const known = verified.get(jwt);
    if (known && clock() < known.untilMs) return known.token;
    const token = await verifyUncached(jwt);
    if (verified.size >= MAX_VERIFIED) verified.clear();
    verified.set(jwt, { token, untilMs: clock() + VERIFIED_MS });
    return token;
  };

  async function verifyUncached(jwt: string): Promise<Token> {
    const options = {
      algorithms: ALGORITHMS,
      issuer,
      audience,
      clockTolerance: LEEWAY_S,
      requiredClaims: ['exp', 'sub'],
      currentDate: new Date(clock()),
    };
    try {
      return toToken(await verifyWithKeys(jwt, options, jwksClient), rate);
    } catch (error) {
      throw toBadCredential(error);
    }
  }
}

async function verifyWithKeys(jwt: string, options: JWTVerifyOptions, jwksClient: JwksClient): Promise<JWTPayload> {
  const keys = await jwksClient.keys();
  if (!keys) throw new BadCredential('no_key', 'no keys were loaded yet');
  try {
    return await verify(jwt, keys, options);
  } catch (error) {
    if (!isKeyUnknown(error, jwt)) throw error;
    return verify(jwt, (await jwksClient.newerKeys()) ?? keys, options);
  }
}

/** True if newer keys could verify the JWT: its key is unknown, or it names no key and may be signed with a new one. */
function isKeyUnknown(error: unknown, jwt: string): boolean {
  if (error instanceof errors.JWKSNoMatchingKey) return true;
  return error instanceof errors.JWSSignatureVerificationFailed && decodeProtectedHeader(jwt).kid === undefined;
}

async function verify(jwt: string, keys: JWTVerifyGetKey, options: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return (await jwtVerify(jwt, keys, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    // The JWT does not name its key, so every matching key is tried.
    for await (const key of error) {
      const verified = await jwtVerify(jwt, key, options).catch((other) => {
        if (!(other instanceof errors.JWSSignatureVerificationFailed)) throw other;
      });
      if (verified) return verified.payload;
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

/** Returns a token for the JWT. Its id is the subject with a prefix that stored tokens do not have. */
function toToken({ sub, iat = 0, exp = 0, scope }: JWTPayload, rate: Rate | null): Token {
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT_CHARS || !isOneLine(sub)) {
    throw new BadCredential('bad_jwt', '"sub" must be one line of 1 to 255 characters');
  }
  const granted = Array.isArray(scope) ? scope : String(scope).split(' ');
  return {
    id: `jwt:${sub}`,
    name: sub,
    scopes: SCOPES.filter((known) => granted.includes(known)),
    createdMs: toTimeMs(iat),
    expiresMs: toTimeMs(exp + LEEWAY_S),
    revokedMs: null,
    rate,
    lastUsedMs: null,
    oldSecretUntilMs: null,
  };
}

/** Returns the time in milliseconds, limited to the range that the API can show. */
function toTimeMs(seconds: number): number {
  return Math.min(Math.max(seconds * 1000, 0), LAST_TIME_MS);
}

function toBadCredential(error: unknown): BadCredential {
  if (error instanceof BadCredential) return error;
  const { message } = error as Error;
  if (error instanceof errors.JWTExpired) return new BadCredential('expired', message);
  if (error instanceof errors.JWKSNoMatchingKey) return new BadCredential('no_key', message);
  return new BadCredential('bad_jwt', message);
}
