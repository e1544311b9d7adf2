// Translates a client error into an exit status and a message with advice.

import { networkCodesOf, TransientError } from '../client/response.ts';
import { OWN_COMMAND } from '../config/command-name.ts';
import type { ErrorCode, PlantStoreError } from '../domain/errors.ts';
import { isLocalHost } from '../lib/local-host.ts';
import { EXIT_STATUS, type ExitStatus, exitStatusOf } from './exit-status.ts';
import type { TokenSource } from './profiles/choose-server.ts';

/** Reasons for error codes that mean the request was not sent. */
const NOT_SENT = new Map([
  ['BAD_PORT', 'the port is reserved for another protocol'],
  ['ECONNREFUSED', 'connection refused'],
  ['ENOTFOUND', 'unknown host name'],
  ['EAI_AGAIN', 'the host name cannot be resolved now'],
  ['EHOSTUNREACH', 'no route to the host'],
  ['ENETUNREACH', 'no route to the network'],
  ['UND_ERR_CONNECT_TIMEOUT', 'no connection in time'],
]);

const NO_TLS = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/;
/** Error codes that no retry resolves. */
const TLS_FAULTS = /^(ERR_SSL_|ERR_TLS_|EPROTO)|CERT|UNABLE_TO_/;

/** Returns the exit status for the error of a request. */
export function statusOfFailure(error: PlantStoreError): ExitStatus {
  const isTls = networkCodesOf(error)?.some((code) => TLS_FAULTS.test(code));
  return isTls || isForeign(error) ? EXIT_STATUS.failed : exitStatusOf(error);
}

/** Returns true if the server answered, but not as a plant store does: the URL can be wrong. */
function isForeign(error: PlantStoreError): boolean {
  return error.code === 'unavailable' && !(error instanceof TransientError);
}

/** Returns one line with the error and advice. `isRead` is true for a command that changes nothing. */
export function explainFailure(
  error: PlantStoreError,
  { url, source }: { url: string; source: TokenSource },
  isRead: boolean,
): string {
  const codes = networkCodesOf(error);
  if (codes === undefined) {
    const advice = isForeign(error) ? `. Check the URL ${url}.` : adviceOn(error.code, url, source);
    return advice === '' ? error.message : `${error.message.replace(/\.$/, '')}${advice}`;
  }
  if (codes.some((code) => NO_TLS.test(code))) {
    return `The server at ${url} does not use TLS. Try a URL that starts with http://.`;
  }
  const fault = codes.find((code) => TLS_FAULTS.test(code));
  if (fault) return `Cannot establish TLS with ${url} (${fault}). ${adviceOnTls(fault)}`;
  const reason = NOT_SENT.get(codes.find((code) => NOT_SENT.has(code)) ?? '');
  if (reason !== undefined) return `Cannot reach ${url}: ${reason}. ${adviceOnServer(url, source)}`;
  const isClosed = codes.includes('UND_ERR_SOCKET') && url.startsWith('http:');
  const hint = isClosed ? ' If the server uses TLS, use https://.' : '';
  const doubt = isRead ? '' : ' The change may have been stored.';
  return `${error.message} (at ${url}). Retry the command.${hint}${doubt}`;
}

/** Returns how to start the server, or to use another one. */
function adviceOnServer(url: string, source: TokenSource): string {
  if (source.kind === 'input') return 'Is the server running? Nothing was saved.';
  if (source.kind === 'profile') {
    return `This is the URL of the profile "${source.name}". Is the server running? To use another one, run "${OWN_COMMAND} profile use NAME".`;
  }
  const start = isLocalHost(new URL(url).hostname)
    ? `Start a server with "${OWN_COMMAND} serve", or set`
    : 'Is the server running? Or set';
  return `${start} --url, --profile or PLANT_STORE_URL.`;
}

/** Returns the start of the advice to use another token, such as "a valid token". */
function replaceToken(source: TokenSource, url: string): string {
  if (source.kind === 'variable') return 'Set PLANT_STORE_TOKEN to';
  if (source.kind === 'input') return 'Nothing was saved. Sign in with';
  return `This is the token of the profile "${source.name}". Run "${OWN_COMMAND} login ${url} --profile ${source.name}" with`;
}

function adviceOn(code: ErrorCode, url: string, source: TokenSource): string {
  switch (code) {
    case 'bad_token':
      return `. ${replaceToken(source, url)} a valid token. To create one, run "${OWN_COMMAND} token create --name NAME --database" in the folder of the server, or with its DATABASE_URL.`;
    case 'scope_missing':
      return `. ${replaceToken(source, url)} a token with this scope. To create one, run "${OWN_COMMAND} token create --name NAME --scopes all --database" in the folder of the server.`;
    case 'no_such_path':
      return `. Check the base path of ${url}.`;
    case 'changes_pruned':
      return '. Omit --after to watch only new changes.';
    case 'unavailable':
      return `. The URL is ${url}.`;
    default:
      return '';
  }
}

function adviceOnTls(fault: string): string {
  if (fault.includes('ALTNAME')) return 'The certificate is for another host name. Use that name in the URL.';
  if (fault.includes('EXPIRED')) return 'The certificate has expired. Renew it on the server.';
  if (fault.startsWith('ERR_SSL_'))
    return 'The server and this client share no TLS version or cipher. Enable TLS 1.2 or 1.3 on the server.';
  return 'The certificate is not trusted. Set NODE_EXTRA_CA_CERTS to the file of the CA certificate.';
}
