// plant-store token create | list | revoke, straight on the database; a running server sees it within a second.

import type { Config } from '../config.ts';
import { readDuration } from '../duration.ts';
import { Refusal } from '../refusal.ts';
import { isActive, issueToken, isTokenName, SCOPES, type Scope, type Token } from '../token.ts';
import { requireDatabase, withStore } from './open.ts';
import { shortTime, toTable } from './table.ts';

export async function createToken(
  config: Config,
  options: { name: string; scopes: string; expires?: string },
): Promise<void> {
  const nowMs = Date.now();
  const wanted = {
    name: readName(options.name),
    scopes: readScopes(options.scopes),
    expiresMs: options.expires === undefined ? null : nowMs + readDuration('--expires', options.expires),
  };
  await withStore(config, async (store) => {
    const { token, secret } = await issueToken(store, wanted, nowMs);
    process.stdout.write(`${secret}\n`);
    if (process.stderr.isTTY) {
      const expires = shortTime(toRow(token, nowMs).expires, 'never');
      process.stderr.write(`${token.id}: ${token.scopes.join(', ')}; expires: ${expires}\n`);
      process.stderr.write('The secret above is shown only now, so keep it\n');
    }
  });
}

export async function listTokens(config: Config, options: { json?: boolean }): Promise<void> {
  requireDatabase(config);
  await withStore(config, async (store) => {
    const rows = (await store.listTokens()).map((token) => toRow(token, Date.now()));
    process.stdout.write(options.json || !process.stdout.isTTY ? `${JSON.stringify(rows, null, 2)}\n` : print(rows));
  });
}

export async function revokeToken(config: Config, id: string): Promise<void> {
  if (!/^tok_\w+$/.test(id)) throw new Refusal('An id begins with tok_: "token list" shows it', 2); // not echoed: it may be a secret
  requireDatabase(config);
  await withStore(config, (store) => store.revokeToken(id, Date.now()));
  if (process.stderr.isTTY) process.stderr.write(`Token ${id} is revoked\n`);
}

function readName(text: string): string {
  if (isTokenName(text)) return text;
  throw new Refusal('--name takes 1 to 100 characters, without control characters', 2);
}

function readScopes(text: string): Scope[] {
  const wanted = text.split(',').map((scope) => scope.trim());
  for (const scope of wanted) {
    if (!SCOPES.some((known) => known === scope)) {
      throw new Refusal(`--scopes takes ${SCOPES.join(', ')}, separated by commas, not "${scope}"`, 2);
    }
  }
  return SCOPES.filter((scope) => wanted.includes(scope));
}

interface Row {
  id: string;
  name: string;
  scopes: Scope[];
  created: string;
  expires: string | null;
  status: 'active' | 'expired' | 'revoked';
}

function toRow(token: Token, nowMs: number): Row {
  const { id, name, scopes, createdMs, expiresMs, revokedMs } = token;
  const status = isActive(token, nowMs) ? 'active' : revokedMs === null ? 'expired' : 'revoked';
  const expires = expiresMs === null ? null : new Date(expiresMs).toISOString();
  return { id, name, scopes, created: new Date(createdMs).toISOString(), expires, status };
}

function print(rows: Row[]): string {
  if (rows.length === 0) return 'No tokens yet: "token create --name NAME" makes one\n';
  return toTable(
    ['ID', 'NAME', 'SCOPES', 'CREATED', 'EXPIRES', 'STATUS'],
    rows.map(({ id, name, scopes, created, expires, status }) => {
      return [id, name, scopes.join(','), shortTime(created, 'never'), shortTime(expires, 'never'), status];
    }),
  );
}
