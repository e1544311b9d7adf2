// The commands login, which saves a server and a token as a profile, and whoami, which shows the token in use.

import { Option } from 'commander';
import type { DescribedToken } from '../../client/client.ts';
import { isLocalHost } from '../../lib/local-host.ts';
import { toSafeText } from '../../lib/safe-text.ts';
import { UsageError } from '../../lib/user-error.ts';
import type { CommandContext, CommandIo } from '../command-io.ts';
import type { CliCommand } from '../declare.ts';
import { INTERRUPTED } from '../exit-status.ts';
import { withChosenServer, withServer } from '../remote.ts';
import { type FormOptions, printAll, report, writeWords } from '../terminal/report.ts';
import { toFields } from '../terminal/table.ts';
import { timeToMinute } from '../terminal/time.ts';
import type { ChosenServer, ServerOptions } from './choose-server.ts';

const DEFAULT_PROFILE = 'default';
const MAX_TOKEN_CHARS = 16 * 1024;
const NO_SECRET_HERE =
  'Do not pass a token as an argument or option: other users of this machine can read it there. The command asks for it, or reads it from standard input.';

interface LoginOptions {
  profile?: string;
  token?: string | true;
}

export function declareLogin(command: CliCommand): void {
  command
    .argument('[url]', 'URL of the server (default: that of --profile, PLANT_STORE_URL, or this machine)')
    .allowExcessArguments() // so that an error does not depend on the position of a token
    .option('--profile <name>', `name of the profile (default: PLANT_STORE_PROFILE, or ${DEFAULT_PROFILE})`)
    .addOption(new Option('--token [secret]', 'rejected, because other users could read it').hideHelp())
    .notes(`
The command asks for a token, or reads it from standard input when piped. If the
server accepts the token, both are saved as the current profile, in a file that
only you can read. Other commands then use this server and this token.`)
    .examples(
      'plant-store token create --name me --scopes all --database | plant-store login',
      'plant-store login https://plants.example.com',
      'plant-store login https://staging.example.com --profile staging',
    )
    .runs(login);
}

export function declareWhoami(command: CliCommand): void {
  command
    .serverOptions()
    .printsJsonOrTable()
    .examples('plant-store whoami', "plant-store whoami --profile staging | jq -r '.scopes[]'")
    .runs(whoami);
}

async function login(
  { io, config }: CommandContext,
  urlArgument: string | undefined,
  options: LoginOptions,
  command: CliCommand,
): Promise<void> {
  if (options.token !== undefined || command.args.some((text) => /pst_/i.test(text))) {
    throw new UsageError(NO_SECRET_HERE);
  }
  if (command.args.length > 1) throw new UsageError('login accepts one argument, the URL of the server');
  const { readProfileName, readProfiles, requireProfilesPath, updateProfiles } = await import('./profile-file.ts');
  const { findOverride, requireServer } = await import('./choose-server.ts');
  const wantedName = options.profile ?? config.clientProfile;
  const name = readProfileName(wantedName ?? DEFAULT_PROFILE);
  const path = requireProfilesPath(io.env);
  const saved = readProfiles(path).byName.get(name); // reports a damaged file before it asks
  const knownUrl = wantedName === undefined ? undefined : saved?.url;
  const url = await readLoginUrl(urlArgument ?? knownUrl ?? requireServer(config.serverUrl));
  warnOfPlainHttp(io, url);

  const token = await readToken(io, url);
  if (token === undefined) {
    io.stderr.write('Interrupted. Nothing was saved.\n');
    io.exitCode = INTERRUPTED;
    return;
  }
  const server: ChosenServer = { url, isSelected: true, credential: { token, source: { kind: 'input' } } };
  const self = await withChosenServer(server, config, (client) => client.tokens.self(), { isRead: true });
  const isRevocable = /^tok_\w+$/.test(self.id); // logout shows it in a command
  await updateProfiles(path, (profiles) => {
    profiles.byName.set(name, { url, token, ...(isRevocable && { tokenId: self.id }) });
    profiles.current = name;
  });
  const override = findOverride(config, name, url);
  if (override) writeWords(io.stderr, `Commands in this terminal do not use the profile, because ${override} is set.`);
  const instead = saved && saved.url !== url ? ` It no longer has the URL ${saved.url}.` : '';
  const words = `Signed in to ${url} as "${toSafeText(self.name)}" (${toSafeText(printRights(self))}).\nProfile "${name}" saved to ${path}.${instead}`;
  report(io.stdout, words, { profile: name, url, file: path, ...pickRights(self) });
}

async function whoami(context: CommandContext, options: ServerOptions & FormOptions): Promise<void> {
  const { stdout } = context.io;
  const { self, url, source } = await withServer(
    context,
    options,
    async (client, url, source) => ({ self: await client.tokens.self(), url, source }),
    { isRead: true },
  );
  const profile = source.kind === 'profile' ? source.name : undefined;
  const fields: [string, string][] = [
    ['Profile', profile ?? 'none, the token is from PLANT_STORE_TOKEN'],
    ['URL', url],
    ['Token', `${self.name} (${self.id})`],
    ['Scopes', self.scopes.join(', ')],
    ['Expires', timeToMinute(self.expires) ?? 'never'],
    ['Rate', String(self.rate ?? 'no limit')],
  ];
  const json = { ...(profile !== undefined && { profile }), url, ...pickRights(self) };
  await printAll(stdout, options, [json], () => toFields(fields, stdout));
}

/** Returns the fields of a token that tell what it permits. */
function pickRights({ id, name, scopes, expires, rate }: DescribedToken): Partial<DescribedToken> {
  return { id, name, scopes, ...(expires !== undefined && { expires }), ...(rate !== undefined && { rate }) };
}

function printRights({ scopes, expires }: DescribedToken): string {
  return `scopes ${scopes.join(', ')}, ${expires === undefined ? 'never expires' : `expires ${timeToMinute(expires)}`}`;
}

/** Returns the URL without a final slash. An invalid URL is not echoed, because it may contain a password. */
async function readLoginUrl(text: string): Promise<string> {
  const { readUrl } = await import('../../config/parse-setting.ts');
  const wanted =
    'that of a server with http:// or https://, such as https://plants.example.com, without a user, password or query';
  const { origin, pathname, search, hash } = new URL(readUrl('The URL', text, wanted));
  if (search || hash) throw new UsageError(`The URL must be ${wanted}`);
  return origin + pathname.replace(/\/+$/, '');
}

function warnOfPlainHttp({ stderr }: CommandIo, url: string): void {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || isLocalHost(hostname)) return;
  writeWords(stderr, `Warning: ${url} is not encrypted. Others on the network can read the token. Use https.`);
}

/** Returns the token that the user types, or that standard input has. Returns undefined after Ctrl-C. */
async function readToken(io: CommandIo, url: string): Promise<string | undefined> {
  const { isHeaderToken } = await import('./profile-file.ts');
  const text = io.stdin.isTTY ? await ask(io, url) : await readInput(io);
  const token = text?.trim();
  if (token === undefined || isHeaderToken(token)) return token;
  const where = io.stdin.isTTY ? 'You entered' : 'Standard input has';
  const fault = token === '' ? 'no token' : 'something else than one token';
  throw new UsageError(
    `${where} ${fault}. Create one with "plant-store token create --name NAME --database", or in the console.`,
  );
}

async function ask(io: CommandIo, url: string): Promise<string | undefined> {
  const { askSecret } = await import('../terminal/secret-prompt.ts');
  return askSecret(io, `Token for ${toSafeText(url)} (not shown): `);
}

async function readInput({ stdin }: CommandIo): Promise<string> {
  let text = '';
  for await (const chunk of stdin.setEncoding('utf8')) {
    text += chunk;
    if (text.length > MAX_TOKEN_CHARS) break;
  }
  return text.length > MAX_TOKEN_CHARS ? 'too long' : text;
}
