// Connects a command to a running server: with the URL and the token that choose-server.ts finds. Translates errors.

import type { ClientOptions, PlantStoreClient } from '../client/client.ts';
import { OWN_COMMAND } from '../config/command-name.ts';
import type { Config } from '../config/config.ts';
import { PlantStoreError } from '../domain/errors.ts';
import type { PlantStore } from '../domain/plant.ts';
import { describeUrl } from '../lib/describe-url.ts';
import { UsageError } from '../lib/user-error.ts';
import type { CommandContext } from './command-io.ts';
import { withStore } from './database-access.ts';
import { CommandError, EXIT_STATUS, type ExitStatus } from './exit-status.ts';
import type { ChosenServer, ServerOptions, TokenSource } from './profiles/choose-server.ts';

export type { ServerOptions };

/** Number of retries of a request. It is low because a person waits for the command. */
const RETRIES = 2;

interface RemoteOptions extends Partial<ClientOptions> {
  /** True if the command changes nothing, so that a lost response leaves no doubt. */
  isRead?: boolean;
}

/** A server and the token for it. */
export interface Target {
  url: string;
  token: string;
  source: TokenSource;
}

/** Runs `work` with a client. Throws a CommandError in place of a PlantStoreError. */
export async function withServer<T>(
  context: CommandContext,
  options: ServerOptions,
  work: (client: PlantStoreClient, url: string, source: TokenSource) => Promise<T>,
  remoteOptions: RemoteOptions = {},
): Promise<T> {
  const { url, credential } = await choose(context, options);
  if (!credential) throw new CommandError(noToken(url, context.config), EXIT_STATUS.credentials);
  return withTarget({ url, ...credential }, work, remoteOptions);
}

/** Like `withServer`, with a given server and token. */
export async function withTarget<T>(
  { url, token, source }: Target,
  work: (client: PlantStoreClient, url: string, source: TokenSource) => Promise<T>,
  { isRead = false, ...clientOptions }: RemoteOptions = {},
): Promise<T> {
  const { createClient } = await import('../client/client.ts');
  const client = createClient({ url, token, retries: RETRIES, ...clientOptions });
  return work(client, showUrl(url), source).catch((error) => rethrow(error, { url, source }, isRead));
}

/** True if the options name a server. Without them, `import` and `export` use the database. */
export function namesServer({ url, profile }: ServerOptions): boolean {
  return url !== undefined || profile !== undefined;
}

/** Runs `work` on the database, or on a server if the options name one. The server derives the author from the token. */
export async function withPlants<T>(
  context: CommandContext,
  options: ServerOptions,
  { isRead }: { isRead: boolean },
  work: (store: PlantStore) => Promise<T>,
): Promise<T> {
  return namesServer(options) ? withClient(context, options, { isRead }, work) : withStore(context.config, work);
}

/** Runs `work` with a client for the server that the options name, with the retries and exit statuses of a file transfer. */
export async function withClient<T>(
  context: CommandContext,
  options: ServerOptions,
  { isRead }: { isRead: boolean },
  work: (client: PlantStoreClient) => Promise<T>,
): Promise<T> {
  const { url, credential } = await choose(context, options);
  if (!credential) throw new UsageError(noToken(url, context.config));
  const { token, source } = credential;
  const { createClient } = await import('../client/client.ts');
  const client = createClient({ url, token });
  return work(client).catch((error) => rethrow(error, { url, source }, isRead, EXIT_STATUS.failed));
}

/** Returns the server that the options name, or the one that the settings start. Undefined if its port is any free one. */
export async function findServer(context: CommandContext, options: ServerOptions): Promise<ChosenServer | undefined> {
  if (namesServer(options)) return choose(context, options);
  const { serverUrl } = context.config;
  return serverUrl === undefined ? undefined : choose(context, { url: serverUrl });
}

async function choose({ io, config }: CommandContext, options: ServerOptions): Promise<ChosenServer> {
  const { chooseServer } = await import('./profiles/choose-server.ts');
  const { findProfilesPath, readProfiles } = await import('./profiles/profile-file.ts');
  return chooseServer(options, config, () => readProfiles(findProfilesPath(io.env)));
}

/** Returns the message for a server without a token. Only a local server has its database here, to create a token. */
function noToken(url: string, { serverUrl, serverUrlFrom }: Config): string {
  const isLocal = url === serverUrl && serverUrlFrom !== 'PLANT_STORE_URL';
  const login = isLocal
    ? `${OWN_COMMAND} token create --name me | ${OWN_COMMAND} login`
    : `${OWN_COMMAND} login ${showUrl(url)}`;
  return `No token for ${showUrl(url)}. Run "${login}", or set PLANT_STORE_TOKEN.`;
}

/** Throws a PlantStoreError as a CommandError with advice, and any other error unchanged. */
async function rethrow(
  error: unknown,
  { url, source }: Omit<Target, 'token'>,
  isRead: boolean,
  exitStatus?: ExitStatus,
): Promise<never> {
  if (!(error instanceof PlantStoreError)) throw error;
  const { explainFailure, statusOfFailure } = await import('./remote-failure.ts');
  const message = explainFailure(error, { url: showUrl(url), source }, isRead);
  throw new CommandError(message, exitStatus ?? statusOfFailure(error));
}

/** Returns the URL without its password. */
function showUrl(url: string): string {
  return describeUrl(url).replace(/\/$/, '');
}
