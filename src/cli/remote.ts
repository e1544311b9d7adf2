// How a command talks to a running server: where it is, and with which token.

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

/** Retries of a request, for which a person waits. */
const RETRIES = 2;

export interface ServerOptions {
  url?: string;
}

interface RemoteOptions extends Partial<ClientOptions> {
  /** True if the command changes nothing, so that nothing can be half done. */
  isRead?: boolean;
}

export function urlOption(): Option {
  return new Option('--url <url>', 'where the server is (default: PLANT_STORE_URL, or on this machine)');
}

/** Runs `work` with a client. Throws a CommandError instead of what the client throws. */
export async function withServer<T>(
  { config }: CommandContext,
  options: ServerOptions,
  work: (client: PlantStoreClient, url: string) => Promise<T>,
  { isRead = false, ...clientOptions }: RemoteOptions = {},
): Promise<T> {
  const url = options.url === undefined ? requireServerUrl(config) : readServerUrl(options.url);
  if (config.clientToken === undefined) {
    throw new CommandError(
      `No token to send: export PLANT_STORE_TOKEN=$(${OWN_COMMAND} token create --name me) makes one and sets it`,
      EXIT_STATUS.credentials,
    );
  }
  const { createClient } = await import('../client/client.ts');
  const client = createClient({ url, token: requireToken(config.clientToken), retries: RETRIES, ...clientOptions });
  return work(client, showUrl(url)).catch((error) => rethrow(error, url, isRead));
}

/** Runs `work` on the database, or with a URL on the server that is there, which knows the author by its token. */
export async function withPlants<T>(
  config: Config,
  url: string | undefined,
  { isRead }: { isRead: boolean },
  work: (store: PlantStore) => Promise<T>,
): Promise<T> {
  if (url === undefined) return withStore(config, work);
  readServerUrl(url);
  if (config.clientToken === undefined) {
    throw new UsageError('--url needs a token: set PLANT_STORE_TOKEN to one that "token create" gave');
  }
  const { createClient } = await import('../client/client.ts');
  const client = createClient({ url, token: requireToken(config.clientToken) });
  return work(client).catch((error) => rethrow(error, url, isRead, EXIT_STATUS.failed));
}

/** Throws what the client threw as a CommandError that says what to do about it. */
async function rethrow(error: unknown, url: string, isRead: boolean, exitStatus?: ExitStatus): Promise<never> {
  if (!(error instanceof PlantStoreError)) throw error;
  const { explainFailure, statusOfFailure } = await import('./remote-failure.ts');
  throw new CommandError(explainFailure(error, showUrl(url), isRead), exitStatus ?? statusOfFailure(error));
}

function readServerUrl(text: string): string {
  if (/^https?:\/\/./.test(text) && URL.canParse(text)) return text;
  throw new UsageError('--url takes the address of a server, such as http://127.0.0.1:3000');
}

function requireServerUrl({ serverUrl }: Config): string {
  if (serverUrl !== undefined) return serverUrl;
  throw new UsageError('PORT is 0, which is any free port: say with --url or PLANT_STORE_URL where the server is');
}

/** Any other character cannot be in a header. */
function requireToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new UsageError('PLANT_STORE_TOKEN has a character that no token has: set it again');
}

/** Returns a URL without its password. */
function showUrl(url: string): string {
  return describeUrl(url).replace(/\/$/, '');
}
