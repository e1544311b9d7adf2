// Who is calling: Authorization header → Token, or the refusal that RFC 6750 asks for. What a token may do, and how
// often, is not looked at here.

import { PlantStoreError } from '../../domain/errors.ts';
import { BadCredential, type CredentialFault, isActive, type Token, type TokenStore } from '../../domain/token.ts';
import { hashSecret, isSecret } from '../../domain/token-secret.ts';
import { isUnavailable, type ReportBug } from '../../observability/bug-report.ts';
import type { HttpReply, HttpRequest } from '../core/request-reply.ts';
import type { AddressOf } from './client-address.ts';
import { createLastUsed } from './last-used.ts';
import { createGuessLimit } from './rate-limit.ts';

/** For so long at most a credential is taken as last looked up: a revocation holds within 1 s. */
const TRUST_MS = 500;
const MAX_REMEMBERED = 10_000;
/** Not what somebody had once, nor what we have no key for. */
const GUESSES: CredentialFault[] = ['malformed', 'unknown', 'bad_jwt'];
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** A Token, or a throw of BadCredential. */
export type VerifyJwt = (jwt: string) => Promise<Token>;

export type Authenticator = ReturnType<typeof createAuthenticator>;

interface AuthenticatorOptions {
  tokens: TokenStore;
  /** Undefined where no JWT is a credential. */
  verifyJwt: VerifyJwt | undefined;
  addressOf: AddressOf;
  clock: () => number;
  reportBug: ReportBug;
}

export function createAuthenticator({ tokens, verifyJwt, addressOf, clock, reportBug }: AuthenticatorOptions) {
  /** What was looked up since then, by the header as it came. */
  const fresh = new Map<string, Token>();
  let freshSinceMs = 0;
  const countGuess = createGuessLimit(addressOf);
  const noteUse = createLastUsed(tokens, clock, reportBug);

  return {
    /** At once where the same was sent a moment ago. Throws, or rejects with, BadCredential, `no_credentials`, `over_rate`. */
    authenticate(request: HttpRequest, reply: HttpReply): Token | Promise<Token> {
      const { authorization = '' } = request.headers;
      const token = findFresh(authorization);
      return token ? requireActive(token) : lookUpCounted(authorization, request, reply);
    },
    /** Of a request that was admitted before: what is wrong by now. */
    async findFault(authorization = ''): Promise<BadCredential | undefined> {
      try {
        requireActive(findFresh(authorization) ?? (await lookUp(authorization)));
        return undefined;
      } catch (error) {
        if (error instanceof BadCredential) return error;
        if (!isUnavailable(error)) reportBug(error);
        return undefined; // with the database out of reach nobody knows better
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
      request.raw.dropBody(); // before the delay of those who guess
      if (error instanceof BadCredential && GUESSES.includes(error.reason)) await countGuess(request, reply);
      throw error;
    }
  }

  async function lookUp(authorization: string): Promise<Token> {
    const credential = credentialIn(authorization);
    const sinceMs = freshSinceMs;
    const token = isSecret(credential) ? await findToken(hashSecret(credential)) : await readJwt(credential);
    const isPlain = authorization.length === 'Bearer '.length + credential.length; // or there is no end to its forms
    if (isPlain && sinceMs === freshSinceMs) fresh.set(authorization, token); // or it may be too old by now
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
  throw new PlantStoreError('no_credentials', 'Send the header "Authorization: Bearer <token>"');
}
