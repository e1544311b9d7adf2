// Parses PostgreSQL URLs in the syntax of libpq: postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?PARAMETERS. The
// driver supports neither several hosts nor target_session_attrs.

const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];
/** Parameters of TLS. A socket on the same machine does not use them. */
const SSL_PARAMETERS = ['ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslnegotiation'];
const TARGETS = ['any', 'read-write', 'primary'] as const;
const DEFAULT_CONNECT_TIMEOUT_S = 5;
const SYNTAX =
  /^(?<scheme>postgres(?:ql)?):\/\/(?:(?<login>[^/?#@\s]*)@)?(?<hosts>[^/?#@\s]*)(?:\/(?<database>[^/?#@\s]*))?(?:\?(?<query>[^#\s]*))?$/;
const HOST_AND_PORT = /^(?:\[(?<address>[^\]]+)\]|(?<host>[^:[\]]*))(?::(?<port>.*))?$/;

/** Requirement on the server of a new connection. `any` accepts each server. */
export type Target = (typeof TARGETS)[number];

/** One server that the URL names. */
export interface Host {
  /** Name, address, or folder of a Unix socket, which starts with a slash. Undefined for the default of the driver. */
  host: string | undefined;
  port: string | undefined;
}

export interface ConnectionUrl {
  scheme: string;
  /** Servers in the order of the URL. */
  hosts: [Host, ...Host[]];
  /** Percent-encoded name of the database. */
  database: string;
  hasPassword: boolean;
  target: Target;
  /** Timeout of one attempt to connect to one server. */
  connectTimeoutMs: number;
  /** Parameters for the driver, with user and password. */
  parameters: URLSearchParams;
}

/** The reason why a URL is invalid, as the rest of a sentence about it. It never contains a part of the URL. */
export class InvalidConnectionUrl extends Error {}

/** Parses a URL. Throws InvalidConnectionUrl. */
export function parseConnectionUrl(url: string): ConnectionUrl {
  const { scheme = '', login = '', hosts = '', database = '', query = '' } = SYNTAX.exec(url)?.groups ?? {};
  const parameters = new URLSearchParams(query);
  const name = takeParameter(parameters, 'dbname');
  const encodedName = name === undefined ? database : encodeURIComponent(name);
  if (encodedName === '' || !isDecodable(encodedName)) throw badSyntax();
  addLogin(parameters, login);
  const mode = parameters.get('sslmode') ?? 'disable';
  if (!SSL_MODES.includes(mode)) {
    throw new InvalidConnectionUrl(`has an unknown sslmode. Use one of ${SSL_MODES.join(', ')}.`);
  }
  return {
    scheme,
    hosts: readHosts(hosts, parameters),
    database: encodedName,
    target: readTarget(takeParameter(parameters, 'target_session_attrs') ?? 'any'),
    connectTimeoutMs: readTimeout(takeParameter(parameters, 'connect_timeout')),
    hasPassword: parameters.has('password'),
    parameters,
  };
}

/** Returns the URL without user, password and parameters, for messages. */
export function describeConnectionUrl(url: string): string {
  const { scheme, hosts, database } = parseConnectionUrl(url);
  const ports = hosts.map(({ port }) => port ?? '');
  if (hosts.some(({ host }) => host?.startsWith('/'))) {
    const port = ports.some((one) => one !== '') ? `&port=${ports.join()}` : '';
    return `${scheme}:///${database}?host=${hosts.map(({ host }) => host ?? '').join()}${port}`;
  }
  return `${scheme}://${hosts.map(describeHost).join()}/${database}`;
}

/** Returns host and port, for messages. */
export function describeHost({ host = '', port }: Host): string {
  return `${host.includes(':') ? `[${host}]` : host}${port === undefined ? '' : `:${port}`}`;
}

/** Returns the URL of one server in the form that the driver parses. */
export function toDriverUrl({ database, parameters }: ConnectionUrl, { host, port }: Host): string {
  const own = new URLSearchParams(parameters);
  if (host?.startsWith('/')) {
    for (const name of SSL_PARAMETERS) own.delete(name);
    own.set('sslmode', 'disable');
  }
  if (host !== undefined) own.set('host', host);
  if (port !== undefined) own.set('port', port);
  // With this parameter, sslmode has the same meaning as in other clients.
  if (!own.has('uselibpqcompat')) own.set('uselibpqcompat', 'true');
  return `postgres:///${database}?${own}`;
}

/** Adds user and password. Parameters of the same names take precedence. */
function addLogin(parameters: URLSearchParams, login: string): void {
  if (!isDecodable(login)) throw badSyntax();
  const [, user = '', password = ''] = /^([^:]*):?(.*)$/.exec(login) ?? [];
  if (user !== '' && !parameters.has('user')) parameters.set('user', decodeURIComponent(user));
  if (password !== '' && !parameters.has('password')) parameters.set('password', decodeURIComponent(password));
}

/** Returns the servers. The parameters `host` and `port` take precedence over the part before the slash. */
function readHosts(text: string, parameters: URLSearchParams): [Host, ...Host[]] {
  const listed = text.split(',').map((one) => {
    const found = HOST_AND_PORT.exec(one)?.groups;
    if (!found || !isDecodable(one)) throw badSyntax();
    return { host: decodeURIComponent(found.address ?? found.host ?? ''), port: found.port ?? '' };
  });
  const hosts = takeParameter(parameters, 'host')?.split(',') ?? listed.map(({ host }) => host);
  const ports = takeParameter(parameters, 'port')?.split(',') ?? listed.map(({ port }) => port);
  if (ports.length !== 1 && ports.length !== hosts.length) {
    throw new InvalidConnectionUrl(
      `has ${ports.length} ports for ${hosts.length} hosts. Name one port, or one per host.`,
    );
  }
  if (!hosts.every((host) => /^(\/.*|[^\s/@?#]*)$/.test(host))) throw badSyntax();
  if (!ports.every((port) => port === '' || (/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65535))) {
    throw new InvalidConnectionUrl('has an invalid port. Use an integer from 1 to 65535.');
  }
  const [first, ...others] = hosts.map((host, at) => ({
    host: host || undefined,
    port: (ports.length === 1 ? ports[0] : ports[at]) || undefined,
  }));
  if (!first) throw badSyntax();
  return [first, ...others];
}

function readTarget(text: string): Target {
  const target = TARGETS.find((one) => one === text);
  if (target) return target;
  throw new InvalidConnectionUrl(`has an unsupported target_session_attrs. Use one of ${TARGETS.join(', ')}.`);
}

/** Returns the timeout in milliseconds. As in libpq, the parameter is in seconds, and 0 stands for the default. */
function readTimeout(text = '0'): number {
  if (!/^\d{1,3}$/.test(text)) {
    throw new InvalidConnectionUrl('has an invalid connect_timeout. Use an integer from 0 to 999, in seconds.');
  }
  return (Number(text) || DEFAULT_CONNECT_TIMEOUT_S) * 1000;
}

/** Removes a parameter and returns its value. An empty one counts as not set. */
function takeParameter(parameters: URLSearchParams, name: string): string | undefined {
  const value = parameters.get(name);
  parameters.delete(name);
  return value || undefined;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function badSyntax(): InvalidConnectionUrl {
  return new InvalidConnectionUrl(
    'must be postgres://USER:PASSWORD@HOST:PORT/DATABASE or sqlite:PATH. In a password, write @ as %40 and / as %2F.',
  );
}
