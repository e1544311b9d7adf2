// How a command talks to a running server: where it is, with which token, and what its refusals mean at a terminal.

import { type ClientOptions, createClient, type PlantStoreClient } from '../client/client.ts';
import { BAD_PORT } from '../client/request.ts';
import { PassingError } from '../client/response.ts';
import { OWN_COMMAND } from '../config/command-name.ts';
import type { Config } from '../config/config.ts';
import { type ErrorCode, PlantStoreError } from '../domain/errors.ts';
import { describeUrl } from '../lib/describe-url.ts';
import { CommandError, EXIT_STATUS, type ExitStatus } from './exit-status.ts';
import { readServerUrl, requireServerUrl, requireToken } from './server-address.ts';

/** A person waits. */
const RETRIES = 2;
/** Of failures in which the request did not leave. */
const NOT_SENT = [
  BAD_PORT,
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];

const NO_TLS = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/;
/** These come again however often it is tried. */
const TLS_FAULTS = /^(ERR_SSL_|ERR_TLS_|EPROTO)|CERT|UNABLE_TO_/;

const STATUSES: Partial<Record<ErrorCode, ExitStatus>> = {
  not_found: EXIT_STATUS.notFound,
  id_taken: EXIT_STATUS.conflict,
  condition_failed: EXIT_STATUS.conflict,
  no_credentials: EXIT_STATUS.credentials,
  bad_token: EXIT_STATUS.credentials,
  scope_missing: EXIT_STATUS.credentials,
  over_rate: EXIT_STATUS.outOfReach,
  over_share: EXIT_STATUS.outOfReach,
  unavailable: EXIT_STATUS.outOfReach,
};

export interface ServerOptions {
  url?: string;
}

export interface Asking extends Partial<ClientOptions> {
  /** Changes nothing, so nothing can be half done. */
  isRead?: true;
}

export const READS: Asking = { isRead: true };
export const WRITES: Asking = {};

/** Throws UserError instead of what the client throws. */
export async function withServer<T>(
  config: Config,
  options: ServerOptions,
  work: (client: PlantStoreClient, url: string) => Promise<T>,
  { isRead, ...clientOptions }: Asking = WRITES,
): Promise<T> {
  const url = options.url === undefined ? requireServerUrl(config) : readServerUrl(options.url);
  if (config.clientToken === undefined) {
    throw new CommandError(
      `No token to send: export PLANT_STORE_TOKEN=$(${OWN_COMMAND} token create --name me) makes one and sets it`,
      EXIT_STATUS.credentials,
    );
  }
  const client = createClient({ url, token: requireToken(config.clientToken), retries: RETRIES, ...clientOptions });
  try {
    return await work(client, showUrl(url));
  } catch (error) {
    throw error instanceof PlantStoreError ? toCommandError(error, url, isRead) : error;
  }
}

function toCommandError(error: PlantStoreError, url: string, isRead = false): CommandError {
  const isHopeless = isSilence(error) && codesOf(error).some((code) => TLS_FAULTS.test(code));
  return new CommandError(explain(error, url, isRead), isHopeless ? EXIT_STATUS.failed : STATUSES[error.code]);
}

function isSilence(error: PlantStoreError): boolean {
  return error instanceof PassingError && error.cause !== undefined;
}

/** What it means for whoever called a command. */
export function explain(error: PlantStoreError, fullUrl: string, isRead = false): string {
  const said = error.message;
  const url = showUrl(fullUrl);
  return isSilence(error) ? onSilence() : `${said}${adviceOn(error.code)}`;

  function onSilence(): string {
    const reason = said.replace(/^No answer from the plant store: /, '');
    const codes = codesOf(error);
    if (codes.some((code) => NO_TLS.test(code))) {
      return `No TLS is spoken at ${url}: does its address begin with http://?`;
    }
    const fault = codes.find((code) => TLS_FAULTS.test(code));
    if (fault) return `No TLS with ${url} (${fault}): ${adviceOnTls(fault)}`;
    if (wasSent(codes)) {
      const isCut = codes.includes('UND_ERR_SOCKET') && url.startsWith('http:');
      const hint = isCut ? ', or with https:// if it speaks TLS' : '';
      return `${said} (at ${url}): try again${hint}${isRead ? '' : '; what was to be changed may be changed'}`;
    }
    return `No plant store answers at ${url} (${reason}): "${OWN_COMMAND} serve" starts one, --url or PLANT_STORE_URL says where one is`;
  }

  function adviceOn(code: ErrorCode): string {
    switch (code) {
      case 'bad_token':
        return ` (PLANT_STORE_TOKEN; "${OWN_COMMAND} token create --name NAME" makes one, in the folder or with the DATABASE_URL of the server)`;
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

function adviceOnTls(fault: string): string {
  if (fault.includes('ALTNAME')) return 'its certificate is for another name, which the address must have';
  if (fault.includes('EXPIRED')) return 'its certificate has expired';
  if (fault.startsWith('ERR_SSL_')) return 'the two have no version or cipher in common';
  return 'its certificate is not trusted; NODE_EXTRA_CA_CERTS=FILE names the one that it is signed with';
}

/** Without a password. */
function showUrl(url: string): string {
  return describeUrl(url).replace(/\/$/, '');
}

function wasSent(codes: string[]): boolean {
  return !codes.some((code) => NOT_SENT.includes(code));
}

/** Of what the network, TLS or Node has said. */
function codesOf({ cause }: PlantStoreError): string[] {
  const given = ((cause as Error | undefined)?.cause ?? {}) as {
    message?: string;
    code?: string;
    errors?: { code?: string }[];
  };
  const codes = [given.message === BAD_PORT ? BAD_PORT : given.code, ...(given.errors ?? []).map(({ code }) => code)];
  return codes.filter((code) => code !== undefined);
}
