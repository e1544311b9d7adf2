// Who is calling: Authorization header → Token, or the refusal that RFC 6750 asks for.

import { PlantStoreError } from '../error.ts';
import { hashSecret, isActive, isSecret, type Scope, type Token, type TokenStore } from '../token.ts';

/** For so long a token is taken as last read: a revocation holds within 1 s. */
const TRUST_MS = 500;
const MAX_REMEMBERED = 10_000;

/** Without a scope any token will do. */
export type Authenticate = (authorization: string | undefined, scope?: Scope) => Promise<Token>;

export function createAuthenticate(tokens: TokenStore, clock: () => number): Authenticate {
  const remembered = new Map<string, { token: Token; readAtMs: number }>();

  return async (authorization, scope) => {
    const token = await readToken(secretIn(authorization));
    if (!isActive(token, clock())) throw badToken();
    if (scope && !token.scopes.includes(scope)) {
      throw new PlantStoreError('scope_missing', `The token lacks the scope "${scope}"`, { detail: { scope } });
    }
    return token;
  };

  async function readToken(secret: string): Promise<Token> {
    const secretHash = hashSecret(secret);
    const known = remembered.get(secretHash);
    if (known && performance.now() - known.readAtMs < TRUST_MS) return known.token;
    const token = await tokens.findToken(secretHash);
    if (!token) throw badToken();
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(secretHash, { token, readAtMs: performance.now() });
    return token;
  }
}

function secretIn(authorization: string | undefined): string {
  const [, scheme, secret = ''] = /^(\S*) *(.*)$/.exec(authorization ?? '') ?? [];
  if (scheme?.toLowerCase() !== 'bearer') {
    throw new PlantStoreError('no_credentials', 'Send the header "Authorization: Bearer <token>"');
  }
  if (!isSecret(secret)) throw badToken();
  return secret;
}

/** Does not say which: that would help only who guesses. */
function badToken(): PlantStoreError {
  return new PlantStoreError('bad_token', 'The token is malformed, unknown, expired or revoked: ask for a new one');
}
