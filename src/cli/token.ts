// The commands token create, list, update, rotate and revoke, on a server or on a database. Running servers apply the
// changes within 1 s.

import { OWN_COMMAND } from '../config/command-name.ts';
import { DEFAULT_GRACE, SCOPES, type Scope } from '../domain/names.ts';
import type { DescribedToken, TokenWithSecret } from '../domain/token.ts';
import type { TokenOperations } from '../domain/token-operations.ts';
import { readDuration } from '../lib/duration.ts';
import { UsageError } from '../lib/user-error.ts';
import { type StoreOptions, withStore } from './choose-store.ts';
import type { CommandContext, CommandIo } from './command-io.ts';
import { type CliCommand, FixedOption } from './declare.ts';
import { readList } from './parse-arguments.ts';
import { type FormOptions, printRows, printSecret, writeWords } from './terminal/report.ts';
import { timeToMinute } from './terminal/time.ts';
import { TOKEN_COLUMNS } from './token-table.ts';

const ID_FORM = `A token id starts with tok_. "${OWN_COMMAND} token list" shows the ids.`;
const TOKEN_ID = ['<id>', 'id of the token, tok_… (see "token list")'] as const;

export function declareToken(command: CliCommand): void {
  const token = command.examples('plant-store token create --name shop', 'plant-store token list');

  token
    .subcommand('create', 'create a token and print its secret, which is shown only once')
    .requiredOption('--name <name>', 'name of the token, such as its user (required)')
    .addOption(scopesOption('').default('plants:read,plants:write'))
    .option('--expires <time>', 'lifetime: 30m, 12h, 90d or 4w (default: never expires)')
    .option('--rate <rate>', 'maximum request rate: 100/s, 600/m or 5000/h (default: no limit)')
    .storeOptions()
    .examples(
      'plant-store token create --name shop',
      'plant-store token create --name importer --scopes plants:write --expires 90d',
      'plant-store token create --name guest --scopes plants:read --rate 10/s',
      'export PLANT_STORE_TOKEN=$(plant-store token create --name me)',
    )
    .runs(createToken);

  token
    .subcommand('list', 'list all tokens, without their secrets')
    .storeOptions()
    .printsJsonOrTable('token')
    .examples('plant-store token list', 'plant-store token list | jq -r .name')
    .runs(listTokens);

  token
    .subcommand('update', 'change the name, scopes, expiry or rate of a token; its secret stays the same')
    .argument(...TOKEN_ID)
    .option('--name <name>', 'new name')
    .addOption(scopesOption('scopes of the token from now on: '))
    .option('--expires <time>', 'lifetime from now: 30m, 12h, 90d or 4w; none removes the expiry')
    .option('--rate <rate>', 'maximum request rate: 100/s, 600/m or 5000/h; none removes the limit')
    .storeOptions()
    .examples(
      'plant-store token update tok_… --scopes plants:read --rate 10/s',
      'plant-store token update tok_… --expires none',
    )
    .runs(updateToken);

  token
    .subcommand('rotate', 'create a new secret for a token and print it')
    .argument(...TOKEN_ID)
    .option('--grace <time>', 'time for which the old secret still works: 30m, 12h, 7d or 0', DEFAULT_GRACE)
    .storeOptions()
    .examples(
      'plant-store token rotate tok_…',
      'plant-store token rotate tok_… --grace 0   # the old secret has leaked',
    )
    .runs(rotateToken);

  token
    .subcommand('revoke', 'revoke a token; running servers reject it within one second')
    .argument(...TOKEN_ID)
    .option('--force', 'revoke even the last active token with the scope admin; needs the database')
    .storeOptions()
    .examples('plant-store token revoke tok_…')
    .runs(revokeToken);
}

function scopesOption(start: string): FixedOption {
  const description = `${start}any of plants:read, plants:write and admin, or all`;
  return new FixedOption('--scopes <list>', description, [...SCOPES, 'all'], { isList: true });
}

async function createToken(
  context: CommandContext,
  options: StoreOptions & { name: string; scopes: string; expires?: string; rate?: string },
): Promise<void> {
  const { name, scopes, expires, rate } = options;
  await requireName(name);
  const wanted = {
    name,
    scopes: readScopes(scopes),
    ...(expires !== undefined && { expires: await requireLimit('--expires', expires) }),
    ...(rate !== undefined && { rate: await requireLimit('--rate', rate) }),
  };
  await withTokens(context, options, async (tokens) => {
    await reportSecret(context.io, 'created', await tokens.create(wanted));
  });
}

async function updateToken(
  context: CommandContext,
  id: string,
  options: StoreOptions & { name?: string; scopes?: string; expires?: string; rate?: string },
): Promise<void> {
  requireTokenId(id);
  const { name, scopes, expires, rate } = options;
  const patch = {
    ...(name !== undefined && { name }),
    ...(scopes !== undefined && { scopes: readScopes(scopes) }),
    ...(expires !== undefined && { expires: expires === 'none' ? null : await requireLimit('--expires', expires) }),
    ...(rate !== undefined && { rate: rate === 'none' ? null : await requireLimit('--rate', rate) }),
  };
  if (Object.keys(patch).length === 0) {
    throw new UsageError('Nothing to change. Add --name, --scopes, --expires or --rate.');
  }
  if (name !== undefined) await requireName(name);
  const { stderr } = context.io;
  await withTokens(context, options, async (tokens) => {
    const token = await tokens.update(id, patch);
    if (stderr.isTTY) writeWords(stderr, `Token ${id} updated. ${printRights(token)}`);
  });
}

async function listTokens(context: CommandContext, options: StoreOptions & FormOptions): Promise<void> {
  const ifEmpty = `No tokens. Create one with "${OWN_COMMAND} token create --name NAME".`;
  await withTokens(context, options, async (tokens) => {
    await printRows(context.io.stdout, options, await tokens.list(), { columns: TOKEN_COLUMNS, ifEmpty });
  });
}

async function rotateToken(
  context: CommandContext,
  id: string,
  options: StoreOptions & { grace: string },
): Promise<void> {
  const { grace } = options;
  if (grace !== '0') readDuration('--grace', grace);
  requireTokenId(id);
  const { stderr } = context.io;
  await withTokens(context, options, async (tokens) => {
    const token = await tokens.rotate(id, { grace });
    await reportSecret(context.io, 'rotated', token);
    if (stderr.isTTY && token.rotating) {
      stderr.write(`The old secret works until ${timeToMinute(token.rotating)}.\n`);
    }
  });
}

async function revokeToken(
  context: CommandContext,
  id: string,
  options: StoreOptions & { force?: true },
): Promise<void> {
  requireTokenId(id);
  const { force = false } = options;
  await withStore(context, options, {
    async onServer(client) {
      if (force) throw new UsageError('--force needs the database. Add --database on the machine of the server.');
      await client.tokens.revoke(id);
    },
    onDatabase: (store) => store.revokeToken(id, Date.now(), force),
  });
  if (context.io.stderr.isTTY) context.io.stderr.write(`Token ${id} revoked.\n`);
}

/** Runs `work` on the tokens of a server or of a database. */
async function withTokens(
  context: CommandContext,
  options: StoreOptions,
  work: (tokens: TokenOperations) => Promise<void>,
): Promise<void> {
  await withStore(context, options, {
    onServer: ({ tokens }) => work(tokens),
    async onDatabase(store) {
      const { createTokenOperations } = await import('../domain/token-operations.ts');
      await work(createTokenOperations(store, Date.now));
    },
  });
}

/** Prints the secret, and nothing else, on standard output. On a terminal, standard error has the details. */
async function reportSecret(io: CommandIo, done: string, token: TokenWithSecret): Promise<void> {
  const { stdout, stderr } = io;
  await printSecret(io, `${token.secret}\n`, `token rotate ${token.id}`);
  if (!stderr.isTTY) return;
  writeWords(stderr, `Token ${token.id} ${done}. ${printRights(token)}`);
  if (stdout.isTTY) stderr.write('The secret above is shown only once. Store it now.\n');
}

function printRights({ scopes, expires, rate }: DescribedToken): string {
  const limit = rate === undefined ? '' : ` Rate: ${rate}.`;
  return `Scopes: ${scopes.join(', ')}.${limit} Expires: ${timeToMinute(expires) ?? 'never'}.`;
}

/** Returns the text of a lifetime or a rate. Throws UsageError if it is invalid. */
async function requireLimit(option: '--expires' | '--rate', text: string): Promise<string> {
  if (option === '--expires') readDuration(option, text);
  else (await import('../config/config.ts')).readRate(option, text);
  return text;
}

function readScopes(text: string): Scope[] {
  return text === 'all' ? [...SCOPES] : readList('--scopes', text, SCOPES, `all, or any of ${SCOPES.join(', ')}`);
}

async function requireName(name: string): Promise<void> {
  const { isTokenName, NAME_FORM } = await import('../domain/token.ts');
  if (!isTokenName(name)) throw new UsageError(`--name must have ${NAME_FORM}`);
}

function requireTokenId(id: string): void {
  if (!/^tok_\w+$/.test(id)) throw new UsageError(ID_FORM); // the id is not echoed, because it may be a secret
}
