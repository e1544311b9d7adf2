// Every kind of credential that is not good for a request, as it would be sent.

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
  /** Status and number of the error. */
  expected: [status: number, error: number];
  /** What goes into a request that asks for this scope. */
  of(scope: Scope): Sendable;
}

export interface Sendable {
  headers?: Record<string, string | string[]>;
  query?: string;
}

export interface Around {
  server: TestServer;
  /** A good secret with every scope. */
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
    ['none', {}],
    ['an empty header', { headers: { authorization: ' ' } }],
    ['another scheme', { headers: { authorization: `Basic ${admin}` } }],
    ['a password', { headers: { authorization: `Basic ${Buffer.from(`admin:${admin}`).toString('base64')}` } }],
    ['no scheme', { headers: { authorization: admin } }],
    ['one in the query', { query: `?access_token=${admin}&token=${admin}` }],
    ['one in a cookie', { headers: { cookie: `token=${admin}; access_token=${admin}` } }],
    ['one for a proxy', { headers: { 'proxy-authorization': `Bearer ${admin}` } }],
    ['one in a header of others', { headers: { 'x-api-key': admin, 'x-access-token': admin } }],
  ];
  const wrong: [string, string][] = [
    ['no secret', ''],
    ['a malformed one', mistype(admin, random)],
    ['one that is cut', admin.slice(0, -1 - random.below(admin.length - 1))],
    ['one in other letters', admin.toUpperCase()],
    ['two in one header', `${admin}, Bearer ${admin}`],
    ['an unknown one', mintSecret()],
    ['an expired one', ended.expired],
    ['a revoked one', ended.revoked],
    ['one that was replaced', ended.replaced],
    ...(await makeJwts(provider)),
  ];
  const twice: [string, string[]][] = [
    ['a good one twice', [admin, admin]],
    ['a good one after a bad one', [`${server.secret}x`, admin]],
    ['a good one before a bad one', [admin, `${server.secret}x`]],
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

/** Another letter in one place, behind the prefix. */
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
    ['a JWT of another issuer', await signFor(provider, { ...ALL_CLAIMED, iss: 'https://other.example' })],
    ['a JWT for another audience', await signFor(provider, { ...ALL_CLAIMED, aud: 'others' })],
    ['a JWT that has expired', await signFor(provider, { ...ALL_CLAIMED, exp: nowS - 60 })],
    ['a JWT that never expires', await signFor(provider, { ...ALL_CLAIMED, exp: undefined })],
    ['a JWT of another key', await sign(issuer, stranger, ALL_CLAIMED)],
    ['a JWT of an unknown key', await sign(issuer, { ...stranger, kid: 'two' }, ALL_CLAIMED)],
    ['a JWT with another payload', `${header}.${more.toString('base64url')}.${signature}`],
    ['a JWT without its signature', `${header}.${payload}.`],
    [
      'a JWT of the algorithm "none"',
      new UnsecuredJWT({ iss: issuer, aud: AUDIENCE, sub: 'x', ...ALL_CLAIMED }).setExpirationTime('1h').encode(),
    ],
    [
      'a JWT signed with a public key',
      `${shared}.${createHmac('sha256', publicText).update(shared).digest('base64url')}`,
    ],
  ];
}
