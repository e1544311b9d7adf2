// What a failure of the client means for the person who called a command.

import { networkCodesOf } from '../client/response.ts';
import { OWN_COMMAND } from '../config/command-name.ts';
import type { ErrorCode, PlantStoreError } from '../domain/errors.ts';
import { EXIT_STATUS, type ExitStatus } from './exit-status.ts';

/** Codes of failures in which the request was not sent. */
const NOT_SENT = [
  'BAD_PORT',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];

const NO_TLS = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/;
/** Codes of failures that no retry resolves. */
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

/** Returns the exit status, or undefined for the usual one. */
export function statusOfFailure(error: PlantStoreError): ExitStatus | undefined {
  const isHopeless = networkCodesOf(error)?.some((code) => TLS_FAULTS.test(code));
  return isHopeless ? EXIT_STATUS.failed : STATUSES[error.code];
}

/** Returns one line with what to do about the failure. `isRead` is true for a command that changes nothing. */
export function explainFailure(error: PlantStoreError, url: string, isRead: boolean): string {
  const codes = networkCodesOf(error);
  if (codes === undefined) return `${error.message}${adviceOn(error.code, url)}`;
  if (codes.some((code) => NO_TLS.test(code))) {
    return `No TLS is spoken at ${url}: does its address begin with http://?`;
  }
  const fault = codes.find((code) => TLS_FAULTS.test(code));
  if (fault) return `No TLS with ${url} (${fault}): ${adviceOnTls(fault)}`;
  if (codes.some((code) => NOT_SENT.includes(code))) {
    const reason = error.message.replace(/^No response from the plant store: /, '');
    return `No plant store answers at ${url} (${reason}): "${OWN_COMMAND} serve" starts one, --url or PLANT_STORE_URL says where one is`;
  }
  const isCut = codes.includes('UND_ERR_SOCKET') && url.startsWith('http:');
  const hint = isCut ? ', or with https:// if it speaks TLS' : '';
  return `${error.message} (at ${url}): try again${hint}${isRead ? '' : '; what was to be changed may be changed'}`;
}

function adviceOn(code: ErrorCode, url: string): string {
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

function adviceOnTls(fault: string): string {
  if (fault.includes('ALTNAME')) return 'its certificate is for another name, which the address must have';
  if (fault.includes('EXPIRED')) return 'its certificate has expired';
  if (fault.startsWith('ERR_SSL_')) return 'the two have no version or cipher in common';
  return 'its certificate is not trusted; NODE_EXTRA_CA_CERTS=FILE names the one that it is signed with';
}
