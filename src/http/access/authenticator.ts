// Authenticates a request: finds the token for its Authorization header, or rejects it as RFC 6750 requires. This file
// checks neither scopes nor rates.

import { PlantStoreError } from '../../domain/errors.ts';
import { BadCredential, type CredentialFault, isActive, type Token, type TokenStore } from '../../domain/token.ts';
import { hashSecret, isSecret } from '../../domain/token-secret.ts';
import { isUnavailable, type ReportBug } from '../../observability/bug-report.ts';
import type { AddressOf } from '../core/client-address.ts';
import type { HttpReply, HttpRequest } from '../core/request-reply.ts';
import { createLastUsed } from './last-used.ts';
import { createGuessLimit } from './rate-limit.ts';
import type { SharedLimits } from './shared-limits.ts';

/** Maximum time for which a looked-up credential is cached, so that a revocation takes effect within 1 s. */
const TRUST_MS = 500;
const MAX_REMEMBERED = 10_000;
/** Faults that count as guesses. A credential that was valid before, or whose key is missing, is not a guess. */
const GUESSES: CredentialFault[] = ['malformed', 'unknown', 'bad_jwt'];
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Returns the token of a JWT. Throws BadCredential. */
export type VerifyJwt = (jwt: string) => Promise<Token>;

export type Authenticator = ReturnType<typeof createAuthenticator>;

interface AuthenticatorOptions {
  tokens: TokenStore;
  /** Undefined if JWTs are not configured. */
  verifyJwt: VerifyJwt | undefined;
  limits: SharedLimits;
  addressOf: AddressOf;
  clock: () => number;
  reportBug: ReportBug;
}

export function createAuthenticator(options: AuthenticatorOptions) {
  const { tokens, verifyJwt, limits, addressOf, clock, reportBug } = options;
  /** Tokens looked up since `freshSinceMs`, by the unmodified header. */
  const fresh = new Map<string, Token>();
  let freshSinceMs = 0;
  const countGuess = createGuessLimit(limits, addressOf);
  const noteUse = createLastUsed(tokens, clock, reportBug);

  return {
    /**
     * Returns a cached token synchronously. Throws, or rejects with, BadCredential, `no_credentials` or `over_rate`.
     */
    authenticate(request: HttpRequest, reply: HttpReply): Token | Promise<Token> {
      const { authorization = '' } = request.headers;
      const token = findFresh(authorization);
      return token ? requireActive(token) : lookUpCounted(authorization, request, reply);
    },
    /**
     * Checks a credential that was admitted before. Returns its token as it is now, or the fault if the credential is no
     * longer valid.
     */
    async recheck(authorization = ''): Promise<Token | BadCredential | undefined> {
      try {
        return requireActive(findFresh(authorization) ?? (await lookUp(authorization)));
      } catch (error) {
        if (error instanceof BadCredential) return error;
        if (!isUnavailable(error)) reportBug(error);
        return undefined; // while the database is unreachable, the earlier result remains valid
      }
    },
  };

  function findFresh(authorization: string): Token | undefined {
    const nowMs = performance.now();
    if (nowMs - freshSinceMs >= TRUST_MS || fresh.size >= MAX_REMEMBERED) {
      fresh.clear();
      freshSinceMs = nowMs;
    }
    return fresh.get(authorization);
  }

  async function lookUpCounted(authorization: string, request: HttpRequest, reply: HttpReply): Promise<Token> {
    try {
      return requireActive(await lookUp(authorization));
    } catch (error) {
      request.raw.dropBody(); // before the delay for guesses
      if (error instanceof BadCredential && GUESSES.includes(error.reason)) await countGuess(request, reply);
      throw error;
    }
  }

  async function lookUp(authorization: string): Promise<Token> {
    const credential = credentialIn(authorization);
    const sinceMs = freshSinceMs;
    const token = isSecret(credential) ? await findToken(hashSecret(credential)) : await readJwt(credential);
    // Only the plain form is cached: a client could send the same credential in any number of other forms.
    const isPlain = authorization.length === 'Bearer '.length + credential.length;
    // If the cache was cleared during the lookup, the result may already be too old.
    if (isPlain && sinceMs === freshSinceMs) fresh.set(authorization, token);
    return token;
  }

  async function findToken(hash: string): Promise<Token> {
    const token = await tokens.findToken(hash);
    if (!token) throw new BadCredential('unknown');
    if (isActive(token, clock())) noteUse(token);
    return token;
  }

  async function readJwt(credential: string): Promise<Token> {
    if (!verifyJwt || !JWT.test(credential)) throw new BadCredential('malformed');
    return verifyJwt(credential);
  }

  function requireActive(token: Token): Token {
    if (token.revokedMs !== null) throw new BadCredential('revoked');
    if (!isActive(token, clock())) throw new BadCredential('expired');
    return token;
  }
}

function credentialIn(authorization: string): string {
  const [, scheme, credential = ''] = /^(\S*) *(.*)$/.exec(authorization) ?? [];
  if (scheme?.toLowerCase() === 'bearer') return credential;
  throw new PlantStoreError(
    'no_credentials',
    'The request has no credentials. Send the header "Authorization: Bearer <token>".',
  );
}
