// plant-store token create | list | rotate | revoke, straight on the database; a running server sees it within a second.

import { type Config, readRate } from '../config/config.ts';
import { SCOPES, type Scope } from '../domain/names.ts';
import {
  type DescribedToken,
  describeToken,
  issueToken,
  isTokenName,
  NAME_FORM,
  renewSecret,
  type Token,
} from '../domain/token.ts';
import { readDuration } from '../lib/duration.ts';
import { toSafeJson } from '../lib/safe-text.ts';
import { UsageError } from '../lib/user-error.ts';
import { newStorePath, requireDatabase, withStore } from './database-access.ts';
import { wantsJson } from './terminal/report.ts';
import { shortTime, toTable } from './terminal/table.ts';

export async function createToken(
  config: Config,
  options: { name: string; scopes: string; expires?: string; rate?: string },
): Promise<void> {
  const nowMs = Date.now();
  const wanted = {
    name: readName(options.name),
    scopes: readScopes(options.scopes),
    expiresMs: options.expires === undefined ? null : nowMs + readDuration('--expires', options.expires),
    rate: options.rate === undefined ? null : readRate('--rate', options.rate),
  };
  const newPath = newStorePath(config);
  await withStore(config, async (store) => reportSecret(await issueToken(store, wanted, nowMs)));
  if (newPath) process.stderr.write(`Made a new store at ${newPath}\n`);
}

export async function listTokens(config: Config, options: { json?: boolean }): Promise<void> {
  requireDatabase(config);
  await withStore(config, async (store) => {
    const tokens = (await store.listTokens()).map((token) => describeToken(token, Date.now()));
    process.stdout.write(wantsJson(options) ? `${toSafeJson(JSON.stringify(tokens, null, 2))}\n` : print(tokens));
  });
}

export async function rotateToken(config: Config, id: string, options: { grace: string }): Promise<void> {
  const graceMs = options.grace === '0' ? 0 : readDuration('--grace', options.grace);
  requireId(id);
  requireDatabase(config);
  await withStore(config, async (store) => {
    const rotated = await renewSecret(store, id, Date.now(), graceMs);
    reportSecret(rotated);
    if (process.stderr.isTTY && graceMs > 0) {
      const until = shortTime(describeToken(rotated.token, Date.now()).rotating, '');
      process.stderr.write(`The old secret is taken, too, until ${until}\n`);
    }
  });
}

export async function revokeToken(config: Config, id: string, options: { force?: true }): Promise<void> {
  requireId(id);
  requireDatabase(config);
  await withStore(config, (store) => store.revokeToken(id, Date.now(), options.force ?? false));
  if (process.stderr.isTTY) process.stderr.write(`Token ${id} is revoked\n`);
}

/** The secret alone goes to standard output. */
function reportSecret({ token, secret }: { token: Token; secret: string }): void {
  process.stdout.write(`${secret}\n`);
  if (!process.stderr.isTTY) return;
  const { id, scopes, expires, rate } = describeToken(token, Date.now());
  const limit = rate === undefined ? '' : `; ${rate} at most`;
  process.stderr.write(`${id}: ${scopes.join(', ')}${limit}; expires: ${shortTime(expires, 'never')}\n`);
  process.stderr.write('The secret above is shown only now, so keep it\n');
}

function requireId(id: string): void {
  if (!/^tok_\w+$/.test(id)) throw new UsageError('An id begins with tok_: "token list" shows it'); // not echoed: it may be a secret
}

function readName(text: string): string {
  if (isTokenName(text)) return text;
  throw new UsageError(`--name takes ${NAME_FORM}`);
}

function readScopes(text: string): Scope[] {
  const wanted = text.split(',').map((scope) => scope.trim());
  for (const scope of wanted) {
    if (!SCOPES.some((known) => known === scope)) {
      throw new UsageError(`--scopes takes ${SCOPES.join(', ')}, separated by commas, not "${scope}"`);
    }
  }
  return SCOPES.filter((scope) => wanted.includes(scope));
}

function print(tokens: DescribedToken[]): string {
  if (tokens.length === 0) return 'No tokens yet: "token create --name NAME" makes one\n';
  return toTable(
    ['ID', 'NAME', 'SCOPES', 'RATE', 'CREATED', 'LAST USED', 'EXPIRES', 'STATUS'],
    tokens.map(({ id, name, scopes, rate, created, lastUsed, expires, status }) => [
      id,
      name,
      scopes.join(','),
      rate ?? '-',
      shortTime(created, '-'),
      shortTime(lastUsed, 'never'),
      shortTime(expires, 'never'),
      status,
    ]),
  );
}
