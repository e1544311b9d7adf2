// Connects a command to a running server: with the URL and the token that choose-server.ts finds. Translates errors.

import type { ClientOptions, PlantStoreClient } from '../client/client.ts';
import { OWN_COMMAND } from '../config/command-name.ts';
import type { Config } from '../config/config.ts';
import { PlantStoreError } from '../domain/errors.ts';
import { showUrl } from '../lib/describe-url.ts';
import type { CommandContext } from './command-io.ts';
import { CommandError, EXIT_STATUS } from './exit-status.ts';
import type { ChosenServer, ServerOptions, TokenSource } from './profiles/choose-server.ts';

/** Number of retries of a request. It is low because a person waits for the command. */
const RETRIES = 2;
/** The same number for a command that transfers a file. */
export const TRANSFER_RETRIES = 5;

export interface RemoteOptions extends Partial<ClientOptions> {
  /** True if the command changes nothing, so that a lost response leaves no doubt. */
  isRead?: boolean;
}

type Work<T> = (client: PlantStoreClient, url: string, source: TokenSource) => Promise<T>;

/** Runs `work` with a client. Throws a CommandError in place of a PlantStoreError. */
export async function withServer<T>(
  context: CommandContext,
  options: ServerOptions,
  work: Work<T>,
  remoteOptions: RemoteOptions = {},
): Promise<T> {
  const { requireServer } = await import('./profiles/choose-server.ts');
  return withChosenServer(requireServer(await findServer(context, options)), context.config, work, remoteOptions);
}

/** Like `withServer`, with a chosen server. */
export async function withChosenServer<T>(
  { url, credential }: ChosenServer,
  config: Config,
  work: Work<T>,
  { isRead = false, ...clientOptions }: RemoteOptions = {},
): Promise<T> {
  if (!credential) throw new CommandError(noToken(url, config), EXIT_STATUS.credentials);
  const { token, source } = credential;
  const { createClient } = await import('../client/client.ts');
  const client = createClient({ url, token, retries: RETRIES, ...clientOptions });
  return work(client, showUrl(url), source).catch((error) => rethrow(error, showUrl(url), source, isRead));
}

/** Returns the server of a command. Undefined if nothing names one and its port on this machine is any free one. */
export async function findServer(
  { io, config }: CommandContext,
  options: ServerOptions,
): Promise<ChosenServer | undefined> {
  const { chooseServer } = await import('./profiles/choose-server.ts');
  const { findProfilesPath, readProfiles } = await import('./profiles/profile-file.ts');
  return chooseServer(options, config, () => readProfiles(findProfilesPath(io.env)));
}

/** Returns the message for a server without a token. Only a local server has its database here, to create a token. */
function noToken(url: string, { serverUrl, serverUrlFrom }: Config): string {
  const isLocal = url === serverUrl && serverUrlFrom !== 'PLANT_STORE_URL';
  const login = isLocal
    ? `${OWN_COMMAND} token create --name me --scopes all --database | ${OWN_COMMAND} login`
    : `${OWN_COMMAND} login ${showUrl(url)}`;
  return `No token for ${showUrl(url)}. Run "${login}"${isLocal ? ' in the folder of the server' : ''}, or set PLANT_STORE_TOKEN.`;
}

/** Throws a PlantStoreError as a CommandError with advice, and any other error unchanged. */
async function rethrow(error: unknown, url: string, source: TokenSource, isRead: boolean): Promise<never> {
  if (!(error instanceof PlantStoreError)) throw error;
  const { explainFailure, statusOfFailure } = await import('./remote-failure.ts');
  throw new CommandError(explainFailure(error, { url, source }, isRead), statusOfFailure(error));
}
