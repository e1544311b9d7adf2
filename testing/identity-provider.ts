// An identity provider on a real socket: its metadata, its keys, and tokens that it signs.

import { createServer, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { atEndOfFile } from './clean-up.ts';
import { freePort } from './free-port.ts';

export const AUDIENCE = 'plants';

export interface Key {
  kid: string | undefined;
  alg: string;
  privateKey: CryptoKey;
  publicJwk: JWK;
}

export interface IdentityProvider {
  issuer: string;
  jwksUrl: string;
  /** Paths of the received requests. */
  asked: string[];
  /** Keys that it publishes from now on. */
  publish(...keys: Key[]): void;
  /** Replaces every response. Without a handler, the provider responds normally. */
  answer(handler?: (response: ServerResponse) => void): void;
  close(): Promise<void>;
  /** Starts it again on the same port. */
  open(): Promise<void>;
}

/** Starts an identity provider. `metadataPath` is the path of its metadata. */
export async function startIdentityProvider(
  metadataPath = '/.well-known/openid-configuration',
  issuerPath = '',
): Promise<IdentityProvider> {
  let keys: Key[] = [];
  let handler: ((response: ServerResponse) => void) | undefined;
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    if (handler) return handler(response);
    const { issuer, jwksUrl } = provider;
    if (url === metadataPath) return response.end(JSON.stringify({ issuer, jwks_uri: jwksUrl }));
    if (url === '/keys') return response.end(JSON.stringify({ keys: keys.map(({ publicJwk }) => publicJwk) }));
    response.writeHead(404).end();
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const port = await freePort();
  await listen(port);
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  atEndOfFile(() => void close());
  const provider: IdentityProvider = {
    issuer: `http://127.0.0.1:${port}${issuerPath}`,
    jwksUrl: `http://127.0.0.1:${port}/keys`,
    asked,
    publish(...wanted) {
      keys = wanted;
    },
    answer(wanted) {
      handler = wanted;
    },
    close,
    open: () => listen(port),
  };
  return provider;
}

export async function makeKey(kid: string | undefined, alg = 'ES256'): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const publicJwk = { ...(await exportJWK(publicKey)), alg, use: 'sig', ...(kid !== undefined && { kid }) };
  return { kid, alg, privateKey, publicJwk };
}

/** Returns the claims of a valid token, with the given ones replaced. */
export function sign(
  issuer: string,
  { kid, alg, privateKey }: Key,
  payload: Record<string, unknown> = {},
): Promise<string> {
  const nowS = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer, aud: AUDIENCE, sub: 'alice', exp: nowS + 300, scope: 'plants:read plants:write' };
  return new SignJWT({ ...claims, ...payload })
    .setProtectedHeader({ alg, ...(kid !== undefined && { kid }) })
    .sign(privateKey);
}
