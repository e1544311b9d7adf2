// Connects a command to a running server: chooses the URL and the token, and translates errors.

import { Option } from 'commander';
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

/** Number of retries of a request. It is low because a person waits for the command. */
const RETRIES = 2;

export interface ServerOptions {
  url?: string;
}

interface RemoteOptions extends Partial<ClientOptions> {
  /** True if the command changes nothing, so that a lost response leaves no doubt. */
  isRead?: boolean;
}

export function urlOption(): Option {
  return new Option('--url <url>', 'URL of the server (default: PLANT_STORE_URL, or this machine)');
}

/** Runs `work` with a client. Throws a CommandError in place of a PlantStoreError. */
export async function withServer<T>(
  { config }: CommandContext,
  options: ServerOptions,
  work: (client: PlantStoreClient, url: string) => Promise<T>,
  { isRead = false, ...clientOptions }: RemoteOptions = {},
): Promise<T> {
  const url = options.url === undefined ? requireServerUrl(config) : readServerUrl(options.url);
  if (config.clientToken === undefined) {
    throw new CommandError(
      `PLANT_STORE_TOKEN is not set. To create a token, run: export PLANT_STORE_TOKEN=$(${OWN_COMMAND} token create --name me)`,
      EXIT_STATUS.credentials,
    );
  }
  const { createClient } = await import('../client/client.ts');
  const client = createClient({ url, token: requireToken(config.clientToken), retries: RETRIES, ...clientOptions });
  return work(client, showUrl(url)).catch((error) => rethrow(error, url, isRead));
}

/** Runs `work` on the database, or on a server if `url` is set. The server derives the author from the token. */
export async function withPlants<T>(
  config: Config,
  url: string | undefined,
  { isRead }: { isRead: boolean },
  work: (store: PlantStore) => Promise<T>,
): Promise<T> {
  return url === undefined ? withStore(config, work) : withClient(config, url, { isRead }, work);
}

/** Runs `work` with a client for the server at `url`, with the retries and exit statuses of a file transfer. */
export async function withClient<T>(
  config: Config,
  url: string,
  { isRead }: { isRead: boolean },
  work: (client: PlantStoreClient) => Promise<T>,
): Promise<T> {
  readServerUrl(url);
  if (config.clientToken === undefined) {
    throw new UsageError(
      '--url requires a token. Set PLANT_STORE_TOKEN to the secret that "plant-store token create" printed.',
    );
  }
  const { createClient } = await import('../client/client.ts');
  const client = createClient({ url, token: requireToken(config.clientToken) });
  return work(client).catch((error) => rethrow(error, url, isRead, EXIT_STATUS.failed));
}

/** Throws a PlantStoreError as a CommandError with advice, and any other error unchanged. */
async function rethrow(error: unknown, url: string, isRead: boolean, exitStatus?: ExitStatus): Promise<never> {
  if (!(error instanceof PlantStoreError)) throw error;
  const { explainFailure, statusOfFailure } = await import('./remote-failure.ts');
  throw new CommandError(explainFailure(error, showUrl(url), isRead), exitStatus ?? statusOfFailure(error));
}

function readServerUrl(text: string): string {
  if (/^https?:\/\/./.test(text) && URL.canParse(text)) return text;
  throw new UsageError('--url must be the URL of a server, such as http://127.0.0.1:3000');
}

function requireServerUrl({ serverUrl }: Config): string {
  if (serverUrl !== undefined) return serverUrl;
  throw new UsageError('PORT is 0 (any free port). Set --url or PLANT_STORE_URL to the URL of the server.');
}

/** Throws UsageError if the token contains a character that a header cannot contain. */
function requireToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new UsageError('PLANT_STORE_TOKEN contains an invalid character. Set it again.');
}

/** Returns the URL without its password. */
function showUrl(url: string): string {
  return describeUrl(url).replace(/\/$/, '');
}
