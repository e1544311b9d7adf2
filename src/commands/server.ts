// How a command talks to a running server: where it is, with which token, and what its refusals mean at a terminal.

import { PassingError } from '../client/answer.ts';
import { BAD_PORT } from '../client/call.ts';
import { type ClientOptions, createClient, type PlantStoreClient } from '../client.ts';
import { type Config, describeUrl } from '../config.ts';
import { type ErrorCode, PlantStoreError } from '../error.ts';
import { OWN_COMMAND } from '../own-command.ts';
import { EXIT_STATUS, type ExitStatus, Refusal } from '../refusal.ts';
import { readServerUrl, requireServerUrl, requireToken } from './server-address.ts';

/** A person waits. */
const RETRIES = 2;
/** Of failures in which the request did not leave. */
const NOT_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'];

const STATUSES: Partial<Record<ErrorCode, ExitStatus>> = {
  not_found: EXIT_STATUS.notFound,
  id_taken: EXIT_STATUS.conflict,
  condition_failed: EXIT_STATUS.conflict,
  no_credentials: EXIT_STATUS.credentials,
  bad_token: EXIT_STATUS.credentials,
  scope_missing: EXIT_STATUS.credentials,
  over_rate: EXIT_STATUS.outOfReach,
  unavailable: EXIT_STATUS.outOfReach,
};

export interface ServerOptions {
  url?: string;
}

interface Asking extends Partial<ClientOptions> {
  /** Changes nothing, so nothing can be half done. */
  isRead?: true;
}

export const READS: Asking = { isRead: true };

/** Throws Refusal instead of what the client throws. */
export async function withServer<T>(
  config: Config,
  options: ServerOptions,
  work: (client: PlantStoreClient, url: string) => Promise<T>,
  { isRead, ...clientOptions }: Asking = {},
): Promise<T> {
  const url = options.url === undefined ? requireServerUrl(config) : readServerUrl(options.url);
  const shownUrl = describeUrl(url).replace(/\/$/, '');
  if (config.clientToken === undefined) {
    throw new Refusal(
      `No token to send: export PLANT_STORE_TOKEN=$(${OWN_COMMAND} token create --name me) makes one and sets it`,
      EXIT_STATUS.credentials,
    );
  }
  const client = createClient({ url, token: requireToken(config.clientToken), retries: RETRIES, ...clientOptions });
  try {
    return await work(client, shownUrl);
  } catch (error) {
    throw error instanceof PlantStoreError ? toRefusal(error, shownUrl, isRead) : error;
  }
}

function toRefusal(error: PlantStoreError, url: string, isRead = false): Refusal {
  const said = error.message;
  const isSilence = error instanceof PassingError && error.cause !== undefined;
  return new Refusal(isSilence ? onSilence() : `${said}${adviceOn(error.code)}`, STATUSES[error.code]);

  function onSilence(): string {
    const reason = said.replace(/^No answer from the plant store: /, '');
    if (wasSent(error)) {
      return `${said} (at ${url}): try again${isRead ? '' : '; what was to be changed may be changed'}`;
    }
    return `No plant store answers at ${url} (${reason}): "${OWN_COMMAND} serve" starts one, --url or PLANT_STORE_URL says where one is`;
  }

  function adviceOn(code: ErrorCode): string {
    switch (code) {
      case 'bad_token':
        return ` (PLANT_STORE_TOKEN; "${OWN_COMMAND} token create --name NAME" makes one)`;
      case 'scope_missing':
        return ` (PLANT_STORE_TOKEN; "${OWN_COMMAND} token create" takes --scopes)`;
      case 'no_such_path':
        return ` (at ${url}: does the address lack a base path?)`;
      case 'changes_pruned':
        return '; without --after it shows what comes from now on';
      case 'unavailable':
        return ` (at ${url})`;
      default:
        return '';
    }
  }
}

function wasSent({ cause }: PlantStoreError): boolean {
  const {
    message,
    code,
    errors = [],
  } = ((cause as Error).cause ?? {}) as {
    message?: string;
    code?: string;
    errors?: { code?: string }[];
  };
  if (message === BAD_PORT) return false;
  return ![code, ...errors.map((each) => each.code)].some((each) => each !== undefined && NOT_SENT.includes(each));
}
