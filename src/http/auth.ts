// Who is calling: Authorization header → Token, or the refusal that RFC 6750 asks for. What a token may do, and how
// often, is not looked at here.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { PlantStoreError } from '../error.ts';
import { hashSecret, isSecret } from '../secret.ts';
import { BadCredential, isActive, type Token, type TokenStore } from '../token.ts';
import { createLogins } from './logins.ts';

/** For so long a credential is taken as last looked up: a revocation holds within 1 s. */
const TRUST_MS = 500;
const MAX_REMEMBERED = 10_000;
const MINUTE_MS = 60_000;
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** A Token, or a throw of BadCredential. */
export type VerifyJwt = (jwt: string) => Promise<Token>;

export interface Authenticator {
  /** Throws BadCredential, `over_rate`. */
  authenticate(request: FastifyRequest, reply: FastifyReply): Promise<Token>;
  /** Of a request that was let in before. */
  isStillGood(authorization: string | undefined): Promise<boolean>;
}

/** Without `verifyJwt` no JWT is a credential. */
export function createAuthenticator(
  tokens: TokenStore,
  verifyJwt: VerifyJwt | undefined,
  clock: () => number,
): Authenticator {
  /** Credentials that were found to be somebody's, by their hash. */
  const remembered = new Map<string, { token: Token; readAtMs: number }>();
  const logins = createLogins();
  /** Tokens whose use is being written down. */
  const noting = new Set<string>();

  return {
    async authenticate(request, reply) {
      const credential = credentialIn(request.headers.authorization);
      const known = remembered.get(hashSecret(credential));
      if (known && isFresh(known)) return requireActive(known.token);
      // One that was good before is no guess, however many others come from the same address.
      const found = known
        ? lookUp(credential)
        : logins.guard(request.ip, reply, isWellFormed(credential), () => lookUp(credential));
      return requireActive(await found);
    },
    async isStillGood(authorization) {
      try {
        const credential = credentialIn(authorization);
        const known = remembered.get(hashSecret(credential));
        requireActive(known && isFresh(known) ? known.token : await lookUp(credential));
        return true;
      } catch (error) {
        return !(error instanceof BadCredential); // with the database out of reach nobody knows better
      }
    },
  };

  async function lookUp(credential: string): Promise<Token> {
    const hash = hashSecret(credential);
    const token = isSecret(credential) ? await findToken(hash) : await readJwt(credential);
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(hash, { token, readAtMs: performance.now() });
    return token;
  }

  async function findToken(hash: string): Promise<Token> {
    const token = await tokens.findToken(hash);
    if (!token) throw new BadCredential('unknown');
    noteUse(token);
    return token;
  }

  /** To the minute. What fails is tried again with the next look-up. */
  function noteUse(token: Token): void {
    const minuteMs = Math.floor(clock() / MINUTE_MS) * MINUTE_MS;
    if (!isActive(token, clock()) || minuteMs <= (token.lastUsedMs ?? 0) || noting.has(token.id)) return;
    noting.add(token.id);
    tokens
      .noteUse(token.id, minuteMs)
      .catch(() => {})
      .finally(() => noting.delete(token.id));
  }

  async function readJwt(credential: string): Promise<Token> {
    if (!verifyJwt || !JWT.test(credential)) throw new BadCredential('malformed');
    return verifyJwt(credential);
  }

  function isWellFormed(credential: string): boolean {
    return isSecret(credential) || (verifyJwt !== undefined && JWT.test(credential));
  }

  function requireActive(token: Token): Token {
    if (token.revokedMs !== null) throw new BadCredential('revoked');
    if (!isActive(token, clock())) throw new BadCredential('expired');
    return token;
  }
}

function isFresh({ readAtMs }: { readAtMs: number }): boolean {
  return performance.now() - readAtMs < TRUST_MS;
}

function credentialIn(authorization: string | undefined): string {
  const [, scheme, credential = ''] = /^(\S*) *(.*)$/.exec(authorization ?? '') ?? [];
  if (scheme?.toLowerCase() === 'bearer') return credential;
  throw new PlantStoreError('no_credentials', 'Send the header "Authorization: Bearer <token>"');
}
