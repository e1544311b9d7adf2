// The commands token create, list, update, rotate and revoke. They change the database. A running server applies the changes
// within 1 s.

import { OWN_COMMAND } from '../config/command-name.ts';
import { SCOPES, type Scope } from '../domain/names.ts';
import type { DescribedToken, Token } from '../domain/token.ts';
import { readDuration } from '../lib/duration.ts';
import { UsageError } from '../lib/user-error.ts';
import type { CommandContext, CommandIo } from './command-io.ts';
import { announceNewStore, withExistingStore, withStore } from './database-access.ts';
import { type CliCommand, FixedOption } from './declare.ts';
import { readList } from './parse-arguments.ts';
import { type FormOptions, printRows, writeWords } from './terminal/report.ts';
import { timeToMinute } from './terminal/time.ts';
import { TOKEN_COLUMNS } from './token-table.ts';

const ID_FORM = `A token id starts with tok_. "${OWN_COMMAND} token list" shows the ids.`;
const TOKEN_ID = ['<id>', 'id of the token, tok_… (see "token list")'] as const;

export function declareToken(command: CliCommand): void {
  const token = command.examples('plant-store token create --name shop', 'plant-store token list');

  token
    .subcommand('create', 'create a token and print its secret, which is shown only once')
    .requiredOption('--name <name>', 'name of the token, such as its user (required)')
    .addOption(
      new FixedOption('--scopes <list>', 'any of plants:read, plants:write and admin, or all', [...SCOPES, 'all'], {
        isList: true,
      }).default('plants:read,plants:write'),
    )
    .option('--expires <time>', 'lifetime: 30m, 12h, 90d or 4w (default: never expires)')
    .option('--rate <rate>', 'maximum request rate: 100/s, 600/m or 5000/h (default: no limit)')
    .examples(
      'plant-store token create --name shop',
      'plant-store token create --name importer --scopes plants:write --expires 90d',
      'plant-store token create --name guest --scopes plants:read --rate 10/s',
      'export PLANT_STORE_TOKEN=$(plant-store token create --name me)',
    )
    .runs(createToken);

  token
    .subcommand('list', 'list all tokens, without their secrets')
    .printsJsonOrTable('token')
    .examples('plant-store token list', 'plant-store token list | jq -r .name')
    .runs(listTokens);

  token
    .subcommand('update', 'change the name, scopes, expiry or rate of a token; its secret stays the same')
    .argument(...TOKEN_ID)
    .option('--name <name>', 'new name')
    .addOption(
      new FixedOption(
        '--scopes <list>',
        'scopes of the token from now on: any of plants:read, plants:write and admin, or all',
        [...SCOPES, 'all'],
        {
          isList: true,
        },
      ),
    )
    .option('--expires <time>', 'lifetime from now: 30m, 12h, 90d or 4w; none removes the expiry')
    .option('--rate <rate>', 'maximum request rate: 100/s, 600/m or 5000/h; none removes the limit')
    .examples(
      'plant-store token update tok_… --scopes plants:read --rate 10/s',
      'plant-store token update tok_… --expires none',
    )
    .runs(updateToken);

  token
    .subcommand('rotate', 'create a new secret for a token and print it')
    .argument(...TOKEN_ID)
    .option('--grace <time>', 'time for which the old secret still works: 30m, 12h, 7d or 0', '24h')
    .examples(
      'plant-store token rotate tok_…',
      'plant-store token rotate tok_… --grace 0   # the old secret has leaked',
    )
    .runs(rotateToken);

  token
    .subcommand('revoke', 'revoke a token; running servers reject it within one second')
    .argument(...TOKEN_ID)
    .option('--force', 'revoke even the last active token with the scope admin')
    .examples('plant-store token revoke tok_…')
    .runs(revokeToken);
}

async function createToken(
  { io, config }: CommandContext,
  options: { name: string; scopes: string; expires?: string; rate?: string },
): Promise<void> {
  const { readRate } = await import('../config/config.ts');
  const { issueToken } = await import('../domain/token.ts');
  await requireName(options.name);
  const nowMs = Date.now();
  const wanted = {
    name: options.name,
    scopes: readScopes(options.scopes),
    expiresMs: options.expires === undefined ? null : nowMs + readDuration('--expires', options.expires),
    rate: options.rate === undefined ? null : readRate('--rate', options.rate),
  };
  announceNewStore(io, config);
  await withStore(config, async (store) => reportSecret(io, 'created', await issueToken(store, wanted, nowMs)));
}

async function updateToken(
  { io, config }: CommandContext,
  id: string,
  options: { name?: string; scopes?: string; expires?: string; rate?: string },
): Promise<void> {
  requireTokenId(id);
  const { name, scopes, expires, rate } = options;
  if (Object.keys(options).length === 0) {
    throw new UsageError('Nothing to change. Add --name, --scopes, --expires or --rate.');
  }
  const { readRate } = await import('../config/config.ts');
  if (name !== undefined) await requireName(name);
  const nowMs = Date.now();
  const change = {
    name,
    scopes: scopes === undefined ? undefined : readScopes(scopes),
    expiresMs: readUnlessNone(expires, (text) => nowMs + readDuration('--expires', text)),
    rate: readUnlessNone(rate, (text) => readRate('--rate', text)),
  };
  const token = await withExistingStore(config, (store) => store.updateToken(id, change, nowMs));
  if (io.stderr.isTTY) writeWords(io.stderr, `Token ${id} updated. ${await printRights(token)}`);
}

/** Returns null for `none`, which removes a property, and undefined without the option. */
function readUnlessNone<T>(text: string | undefined, read: (text: string) => T): T | null | undefined {
  if (text === undefined) return undefined;
  return text === 'none' ? null : read(text);
}

async function listTokens({ io, config }: CommandContext, options: FormOptions): Promise<void> {
  const tokens = await withExistingStore(config, (store) => store.listTokens());
  const shown = await Promise.all(tokens.map(describe));
  const ifEmpty = `No tokens. Create one with "${OWN_COMMAND} token create --name NAME".`;
  await printRows(io.stdout, options, shown, { columns: TOKEN_COLUMNS, ifEmpty });
}

async function rotateToken({ io, config }: CommandContext, id: string, options: { grace: string }): Promise<void> {
  const graceMs = options.grace === '0' ? 0 : readDuration('--grace', options.grace);
  requireTokenId(id);
  const { renewSecret } = await import('../domain/token.ts');
  const rotated = await withExistingStore(config, (store) => renewSecret(store, id, Date.now(), graceMs));
  await reportSecret(io, 'rotated', rotated);
  if (io.stderr.isTTY && graceMs > 0) {
    const { rotating } = await describe(rotated.token);
    io.stderr.write(`The old secret works until ${timeToMinute(rotating)}.\n`);
  }
}

async function revokeToken({ io, config }: CommandContext, id: string, options: { force?: true }): Promise<void> {
  requireTokenId(id);
  await withExistingStore(config, (store) => store.revokeToken(id, Date.now(), options.force ?? false));
  if (io.stderr.isTTY) io.stderr.write(`Token ${id} revoked.\n`);
}

/** Prints the secret, and nothing else, on standard output. On a terminal, standard error has the details. */
async function reportSecret(
  { stdout, stderr }: CommandIo,
  done: string,
  { token, secret }: { token: Token; secret: string },
): Promise<void> {
  stdout.write(`${secret}\n`);
  if (!stderr.isTTY) return;
  writeWords(stderr, `Token ${token.id} ${done}. ${await printRights(token)}`);
  if (stdout.isTTY) stderr.write('The secret above is shown only once. Store it now.\n');
}

async function printRights(token: Token): Promise<string> {
  const { scopes, expires, rate } = await describe(token);
  const limit = rate === undefined ? '' : ` Rate: ${rate}.`;
  return `Scopes: ${scopes.join(', ')}.${limit} Expires: ${timeToMinute(expires) ?? 'never'}.`;
}

function readScopes(text: string): Scope[] {
  return text === 'all' ? [...SCOPES] : readList('--scopes', text, SCOPES, `all, or any of ${SCOPES.join(', ')}`);
}

async function requireName(name: string): Promise<void> {
  const { isTokenName, NAME_FORM } = await import('../domain/token.ts');
  if (!isTokenName(name)) throw new UsageError(`--name must have ${NAME_FORM}`);
}

async function describe(token: Token): Promise<DescribedToken> {
  return (await import('../domain/token.ts')).describeToken(token, Date.now());
}

function requireTokenId(id: string): void {
  if (!/^tok_\w+$/.test(id)) throw new UsageError(ID_FORM); // the id is not echoed, because it may be a secret
}
