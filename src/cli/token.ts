// plant-store token create | list | rotate | revoke, straight on the database; a running server sees it within a second.

import { SCOPES } from '../domain/names.ts';
import type { DescribedToken, Token } from '../domain/token.ts';
import { readDuration } from '../lib/duration.ts';
import { toSafeJson } from '../lib/safe-text.ts';
import { UsageError } from '../lib/user-error.ts';
import type { CommandContext, CommandIo } from './command-io.ts';
import { newStorePath, withExistingStore, withStore } from './database-access.ts';
import { type CliCommand, FixedOption } from './declare.ts';
import { readList } from './parse-arguments.ts';
import { wantsJson } from './terminal/report.ts';
import { shortTime, toTable } from './terminal/table.ts';

const TOKEN_ID = ['<id>', 'as "token list" shows it: tok_…'] as const;

export function declareToken(command: CliCommand): void {
  const token = command.examples('plant-store token create --name shop', 'plant-store token list');

  token
    .subcommand('create', 'make a token and print its secret, which is shown only now')
    .requiredOption('--name <name>', 'who will use it')
    .addOption(
      new FixedOption('--scopes <list>', 'of plants:read, plants:write and admin', SCOPES, { isList: true }).default(
        'plants:read,plants:write',
      ),
    )
    .option('--expires <time>', 'after 30m, 12h, 90d or 4w (default: never)')
    .option('--rate <rate>', 'how often it may ask at most: 100/s, 600/m or 5000/h (default: no limit)')
    .examples(
      'plant-store token create --name shop',
      'plant-store token create --name importer --scopes plants:write --expires 90d',
      'plant-store token create --name stranger --scopes plants:read --rate 10/s',
      'export PLANT_STORE_TOKEN=$(plant-store token create --name me)',
    )
    .runs(createToken);

  token
    .subcommand('list', 'show all tokens, never their secrets')
    .option('--json', 'as JSON, which is the default when piped')
    .examples('plant-store token list', "plant-store token list | jq -r '.[].name'")
    .runs(listTokens);

  token
    .subcommand('rotate', 'give a token a new secret and print it; for a while the old one is taken, too')
    .argument(...TOKEN_ID)
    .option('--grace <time>', 'for how long: 30m, 12h, 7d; 0 ends the old secret now', '24h')
    .examples(
      'plant-store token rotate tok_…',
      'plant-store token rotate tok_… --grace 0   (the old secret has leaked)',
    )
    .runs(rotateToken);

  token
    .subcommand('revoke', 'end a token; a running server refuses it within a second')
    .argument(...TOKEN_ID)
    .option('--force', 'also the last one that is active with the scope admin')
    .examples('plant-store token revoke tok_…')
    .runs(revokeToken);
}

async function createToken(
  { io, config }: CommandContext,
  options: { name: string; scopes: string; expires?: string; rate?: string },
): Promise<void> {
  const { readRate } = await import('../config/config.ts');
  const { issueToken, isTokenName, NAME_FORM } = await import('../domain/token.ts');
  if (!isTokenName(options.name)) throw new UsageError(`--name takes ${NAME_FORM}`);
  const nowMs = Date.now();
  const wanted = {
    name: options.name,
    scopes: readList('--scopes', options.scopes, SCOPES, SCOPES.join(', ')),
    expiresMs: options.expires === undefined ? null : nowMs + readDuration('--expires', options.expires),
    rate: options.rate === undefined ? null : readRate('--rate', options.rate),
  };
  const newPath = newStorePath(config);
  await withStore(config, async (store) => reportSecret(io, await issueToken(store, wanted, nowMs)));
  if (newPath) io.stderr.write(`Made a new store at ${newPath}\n`);
}

async function listTokens({ io, config }: CommandContext, options: { json?: boolean }): Promise<void> {
  const tokens = await withExistingStore(config, (store) => store.listTokens());
  const shown = await Promise.all(tokens.map(describe));
  const isJson = wantsJson(io.stdout, options);
  io.stdout.write(isJson ? `${toSafeJson(JSON.stringify(shown, null, 2))}\n` : print(shown));
}

async function rotateToken({ io, config }: CommandContext, id: string, options: { grace: string }): Promise<void> {
  const graceMs = options.grace === '0' ? 0 : readDuration('--grace', options.grace);
  requireTokenId(id);
  const { renewSecret } = await import('../domain/token.ts');
  const rotated = await withExistingStore(config, (store) => renewSecret(store, id, Date.now(), graceMs));
  await reportSecret(io, rotated);
  if (io.stderr.isTTY && graceMs > 0) {
    const until = shortTime((await describe(rotated.token)).rotating, '');
    io.stderr.write(`The old secret is taken, too, until ${until}\n`);
  }
}

async function revokeToken({ io, config }: CommandContext, id: string, options: { force?: true }): Promise<void> {
  requireTokenId(id);
  await withExistingStore(config, (store) => store.revokeToken(id, Date.now(), options.force ?? false));
  if (io.stderr.isTTY) io.stderr.write(`Token ${id} is revoked\n`);
}

/** Prints the secret alone on standard output. */
async function reportSecret({ stdout, stderr }: CommandIo, made: { token: Token; secret: string }): Promise<void> {
  stdout.write(`${made.secret}\n`);
  if (!stderr.isTTY) return;
  const { id, scopes, expires, rate } = await describe(made.token);
  const limit = rate === undefined ? '' : `; ${rate} at most`;
  stderr.write(`${id}: ${scopes.join(', ')}${limit}; expires: ${shortTime(expires, 'never')}\n`);
  stderr.write('The secret above is shown only now, so keep it\n');
}

async function describe(token: Token): Promise<DescribedToken> {
  return (await import('../domain/token.ts')).describeToken(token, Date.now());
}

function requireTokenId(id: string): void {
  if (!/^tok_\w+$/.test(id)) throw new UsageError('An id begins with tok_: "token list" shows it'); // not echoed: it may be a secret
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
