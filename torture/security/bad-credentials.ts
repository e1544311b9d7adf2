// Every kind of insufficient credential, in the form in which a client would send it.

import { createHmac } from 'node:crypto';
import { UnsecuredJWT } from 'jose';
import { SCOPES, type Scope } from '../../src/domain/names.ts';
import { renewSecret } from '../../src/domain/token.ts';
import { mintSecret } from '../../src/domain/token-secret.ts';
import { AUDIENCE, type IdentityProvider, makeKey, sign } from '../../testing/identity-provider.ts';
import { addToken, besideServer, type TestServer } from '../../testing/server.ts';
import type { Random } from '../random.ts';

export interface Credential {
  name: string;
  /** HTTP status and error number. */
  expected: [status: number, error: number];
  /** Returns the headers or query for a request that requires this scope. */
  of(scope: Scope): Sendable;
}

export interface Sendable {
  headers?: Record<string, string | string[]>;
  query?: string;
}

export interface Around {
  server: TestServer;
  /** A valid secret with every scope. */
  admin: string;
  provider: IdentityProvider;
  random: Random;
}

const NONE: Credential['expected'] = [401, 40101];
const BAD: Credential['expected'] = [401, 40102];
const TWICE: Credential['expected'] = [400, 40000];
const LACKING: Credential['expected'] = [403, 40301];
const ALL = [...SCOPES];
const ALL_CLAIMED = { scope: ALL.join(' ') };

export async function makeCredentials({ server, admin, provider, random }: Around): Promise<Credential[]> {
  const ended = await makeEnded(server.databaseUrl);
  const lacking = new Map<Scope, string>();
  for (const scope of ALL) {
    const others = ALL.filter((other) => other !== scope);
    lacking.set(scope, (await addToken(server.databaseUrl, { scopes: others })).secret);
  }
  const misplaced: [string, Sendable][] = [
    ['no credential', {}],
    ['an empty header', { headers: { authorization: ' ' } }],
    ['another scheme', { headers: { authorization: `Basic ${admin}` } }],
    ['a password', { headers: { authorization: `Basic ${Buffer.from(`admin:${admin}`).toString('base64')}` } }],
    ['no scheme', { headers: { authorization: admin } }],
    ['a token in the query', { query: `?access_token=${admin}&token=${admin}` }],
    ['a token in a cookie', { headers: { cookie: `token=${admin}; access_token=${admin}` } }],
    ['a token for a proxy', { headers: { 'proxy-authorization': `Bearer ${admin}` } }],
    ['a token in another header', { headers: { 'x-api-key': admin, 'x-access-token': admin } }],
  ];
  const wrong: [string, string][] = [
    ['no secret', ''],
    ['a malformed token', mistype(admin, random)],
    ['a truncated token', admin.slice(0, -1 - random.below(admin.length - 1))],
    ['a token in upper case', admin.toUpperCase()],
    ['two tokens in one header', `${admin}, Bearer ${admin}`],
    ['an unknown token', mintSecret()],
    ['an expired token', ended.expired],
    ['a revoked token', ended.revoked],
    ['a rotated token', ended.replaced],
    ...(await makeJwts(provider)),
  ];
  const twice: [string, string[]][] = [
    ['a valid token twice', [admin, admin]],
    ['a valid token after an invalid one', [`${server.secret}x`, admin]],
    ['a valid token before an invalid one', [admin, `${server.secret}x`]],
  ];
  const weak = await signFor(provider, { scope: '' });
  return [
    ...misplaced.map(([name, sent]) => ({ name, expected: NONE, of: () => sent })),
    ...wrong.map(([name, text]) => ({ name, expected: BAD, of: () => bearer(text) })),
    ...twice.map(([name, texts]) => ({ name, expected: TWICE, of: () => bearer(...texts) })),
    { name: 'the wrong scope', expected: LACKING, of: (scope) => bearer(lacking.get(scope) ?? '') },
    { name: 'a JWT without the scope', expected: LACKING, of: () => bearer(weak) },
  ];
}

function bearer(...texts: string[]): Sendable {
  const values = texts.map((text) => `Bearer ${text}`);
  return { headers: { authorization: values.length === 1 ? String(values[0]) : values } };
}

/** Returns the secret with one other letter after the prefix. */
function mistype(secret: string, random: Random): string {
  const at = 4 + random.below(secret.length - 4);
  return `${secret.slice(0, at)}${secret[at] === 'x' ? 'y' : 'x'}${secret.slice(at + 1)}`;
}

async function makeEnded(databaseUrl: string): Promise<{ expired: string; revoked: string; replaced: string }> {
  const expired = await addToken(databaseUrl, { scopes: ALL, expiresMs: Date.now() - 1 });
  const revoked = await addToken(databaseUrl, { scopes: ALL });
  const replaced = await addToken(databaseUrl, { scopes: ALL });
  await besideServer(databaseUrl, async (store) => {
    await store.revokeToken(revoked.token.id, Date.now());
    await renewSecret(store, replaced.token.id, Date.now(), 0);
  });
  return { expired: expired.secret, revoked: revoked.secret, replaced: replaced.secret };
}

let key: ReturnType<typeof makeKey> | undefined;

async function signFor(provider: IdentityProvider, claims: Record<string, unknown>): Promise<string> {
  key ??= makeKey('one');
  provider.publish(await key);
  return sign(provider.issuer, await key, claims);
}

async function makeJwts(provider: IdentityProvider): Promise<[string, string][]> {
  const { issuer } = provider;
  const good = await signFor(provider, ALL_CLAIMED);
  const [header, payload = '', signature = ''] = good.split('.');
  const stranger = await makeKey('one');
  const shared = `${Buffer.from('{"alg":"HS256","kid":"one"}').toString('base64url')}.${payload}`;
  const publicText = JSON.stringify((await key)?.publicJwk);
  const more = Buffer.from(
    JSON.stringify({ ...JSON.parse(Buffer.from(payload, 'base64url').toString()), sub: 'root' }),
  );
  const nowS = Math.floor(Date.now() / 1000);
  return [
    ['a JWT from another issuer', await signFor(provider, { ...ALL_CLAIMED, iss: 'https://other.example' })],
    ['a JWT for another audience', await signFor(provider, { ...ALL_CLAIMED, aud: 'others' })],
    ['an expired JWT', await signFor(provider, { ...ALL_CLAIMED, exp: nowS - 60 })],
    ['a JWT that never expires', await signFor(provider, { ...ALL_CLAIMED, exp: undefined })],
    ['a JWT signed with another key', await sign(issuer, stranger, ALL_CLAIMED)],
    ['a JWT with an unknown key id', await sign(issuer, { ...stranger, kid: 'two' }, ALL_CLAIMED)],
    ['a JWT with another payload', `${header}.${more.toString('base64url')}.${signature}`],
    ['a JWT without its signature', `${header}.${payload}.`],
    [
      'a JWT with the algorithm "none"',
      new UnsecuredJWT({ iss: issuer, aud: AUDIENCE, sub: 'x', ...ALL_CLAIMED }).setExpirationTime('1h').encode(),
    ],
    [
      'a JWT signed with a public key',
      `${shared}.${createHmac('sha256', publicText).update(shared).digest('base64url')}`,
    ],
  ];
}
