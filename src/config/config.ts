// The only reader of the environment: variables → a frozen Config, or a UsageError that says what a variable takes.

import { isIP } from 'node:net';
import type { JwtOptions } from '../auth/jwt-verifier.ts';
import { describeUrl } from '../lib/describe-url.ts';
import { parseRate, RATE_FORM, type Rate } from '../lib/token-bucket.ts';
import { UsageError } from '../lib/user-error.ts';
import type { LogLevel } from '../observability/log.ts';
import type { TracingOptions } from '../observability/tracing.ts';
import { readTraces } from './otel-config.ts';
import { listOf, readNumber, readOneOf, readUrl, refuse } from './parse-setting.ts';

const LOG_LEVELS: readonly LogLevel[] = ['silent', 'error', 'warn', 'info', 'debug'];

export interface Config {
  host: string;
  port: number;
  database: Database;
  /** Empty, or a path that begins with a slash and does not end with one. */
  basePath: string;
  logLevel: LogLevel;
  accessLog: boolean;
  /** Files of a certificate and its key: with them nothing but TLS is spoken. */
  tls: TlsFiles | undefined;
  /** Whose `X-Forwarded-For` counts: addresses and networks, or how many proxies there are. */
  trustProxy: string[] | number | undefined;
  /** Whose pages may use it; `*` is any. */
  corsOrigins: string[];
  /** An identity provider whose JWTs are credentials. */
  jwt: JwtOptions | undefined;
  /** Where traces go; without it there are none. */
  traces: TracingOptions | undefined;
  /** Webhooks may lead into private networks, also without TLS. */
  allowPrivateWebhooks: boolean;
  /** For a command that talks to a server. */
  clientToken: string | undefined;
  /** Where such a command looks for the server; undefined where that is any free port. */
  serverUrl: string | undefined;
  startedByNpm: boolean;
}

export type Database =
  | { kind: 'sqlite'; path: string }
  | {
      kind: 'postgres';
      /** May hold a password. */
      url: string;
      poolSize: number;
      statementTimeoutMs: number;
    };

export interface TlsFiles {
  certPath: string;
  keyPath: string;
}

type Environment = Record<string, string | undefined>;

export function readConfig(environment: Environment): Config {
  const env: Environment = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  return Object.freeze({
    host: readHost(env.HOST ?? '127.0.0.1'),
    port: readPort(env.PORT ?? '3000'),
    database: readDatabase(env.DATABASE_URL ?? 'sqlite:./data/plants.db', env),
    basePath: readBasePath(env.BASE_PATH ?? ''),
    logLevel: readOneOf('LOG_LEVEL', env.LOG_LEVEL ?? 'info', LOG_LEVELS),
    accessLog: readSwitch('ACCESS_LOG', env.ACCESS_LOG ?? '0'),
    tls: readTls(env),
    trustProxy: env.TRUST_PROXY === undefined ? undefined : readTrustProxy(env.TRUST_PROXY),
    corsOrigins: env.CORS_ORIGINS === undefined ? [] : readOrigins(env.CORS_ORIGINS),
    jwt: readJwt(env),
    traces: readTraces(env),
    allowPrivateWebhooks: readSwitch('WEBHOOK_ALLOW_PRIVATE', env.WEBHOOK_ALLOW_PRIVATE ?? '0'),
    clientToken: env.PLANT_STORE_TOKEN,
    serverUrl: readServerUrl(env),
    startedByNpm: env.npm_lifecycle_event !== undefined,
  });
}

function readHost(text: string): string {
  if (/^[A-Za-z0-9._:%-]+$/.test(text)) return text;
  throw refuse('HOST', text, 'a host name or address such as 127.0.0.1, :: or 0.0.0.0');
}

function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65535) return Number(text);
  throw refuse('PORT', text, 'a number from 0 (any free port) to 65535');
}

/** Where a server with the same settings listens, unless PLANT_STORE_URL says it. */
function readServerUrl(env: Environment): string | undefined {
  if (env.PLANT_STORE_URL !== undefined) {
    return readUrl('PLANT_STORE_URL', env.PLANT_STORE_URL, 'the address of a server, such as http://127.0.0.1:3000');
  }
  const port = readPort(env.PORT ?? '3000');
  if (port === 0) return undefined;
  const host = readHost(env.HOST ?? '127.0.0.1');
  const reached = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  const scheme = readTls(env) ? 'https' : 'http';
  return `${scheme}://${isIP(reached) === 6 ? `[${reached}]` : reached}:${port}${readBasePath(env.BASE_PATH ?? '')}`;
}

const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** `name` is where the URL comes from: a variable, or an option of a command. */
export function readDatabase(text: string, env: Environment, name = 'DATABASE_URL'): Database {
  if (/^postgres(ql)?:/.test(text)) {
    if (!/^postgres(ql)?:\/\/[^/?#\s]*\/[^/?#@\s]+(\?\S*)?$/.test(text) || !URL.canParse(text)) {
      // not echoed: a URL may hold a password
      throw new UsageError(
        `${name} must be postgres://USER:PASSWORD@HOST:PORT/DATABASE, or sqlite:PATH; in a password, write @ as %40 and / as %2F`,
      );
    }
    const mode = new URL(text).searchParams.get('sslmode') ?? 'disable';
    if (!SSL_MODES.includes(mode)) throw new UsageError(`${name} has an sslmode other than ${SSL_MODES.join(', ')}`);
    return {
      kind: 'postgres',
      url: text,
      poolSize: readNumber('DATABASE_POOL_SIZE', env.DATABASE_POOL_SIZE ?? '10', 1, 1000),
      statementTimeoutMs: readNumber('DATABASE_TIMEOUT_MS', env.DATABASE_TIMEOUT_MS ?? '10000', 100, 600_000),
    };
  }
  const path = /^sqlite:(?:\/\/(?=\/))?([^?#\0]+)$/.exec(text)?.[1];
  if (path === undefined || /^(:|~|\/\/|file:)|\/$/.test(path)) {
    throw new UsageError(
      `${name} must be sqlite:PATH such as sqlite:./data/plants.db, or postgres://USER:PASSWORD@HOST:PORT/DATABASE`,
    );
  }
  return { kind: 'sqlite', path };
}

/** For people and logs: without a password. */
export function describeDatabase(database: Database): string {
  return database.kind === 'sqlite' ? `sqlite:${database.path}` : describeUrl(database.url);
}

function readBasePath(text: string): string {
  const path = text.replace(/\/$/, '');
  if (/^(\/[A-Za-z0-9._~-]+)*$/.test(path) && !/\/\.\.?(\/|$)/.test(path)) return path;
  throw refuse('BASE_PATH', text, 'a path such as /store');
}

function readTls({ TLS_CERT: certPath, TLS_KEY: keyPath }: Environment): TlsFiles | undefined {
  if (certPath !== undefined && keyPath !== undefined) return { certPath, keyPath };
  if (certPath === undefined && keyPath === undefined) return undefined;
  const [there, missing] = certPath === undefined ? ['TLS_KEY', 'TLS_CERT'] : ['TLS_CERT', 'TLS_KEY'];
  throw new UsageError(`${there} needs ${missing}, too: the files of a certificate and of its key, both PEM`);
}

const NETWORK_NAMES = ['loopback', 'linklocal', 'uniquelocal'];

/** Not "true": whoever could reach it would then choose their own address. */
function readTrustProxy(text: string): string[] | number {
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  const networks = listOf(text);
  if (networks.length > 0 && networks.every(isNetwork)) return networks;
  throw refuse(
    'TRUST_PROXY',
    text,
    'the addresses or networks of your proxies (10.0.0.7, 10.0.0.0/8, loopback) with commas, or how many there are (1)',
  );
}

function isNetwork(text: string): boolean {
  if (NETWORK_NAMES.includes(text)) return true;
  const [, address = '', bits] = /^([^/]+)(?:\/([1-9]\d{0,2}))?$/.exec(text) ?? [];
  const version = isIP(address);
  return version !== 0 && !address.includes('%') && (bits === undefined || Number(bits) <= (version === 4 ? 32 : 128));
}

function readOrigins(text: string): string[] {
  const origins = listOf(text);
  const isRight = origins.length > 0 && (text.trim() === '*' || origins.every(isOrigin));
  if (isRight) return origins;
  throw refuse(
    'CORS_ORIGINS',
    text,
    '*, or origins with commas, as a browser sends them: https://shop.example.com (small letters, no usual port, no slash at the end)',
  );
}

/** As a browser sends it: no default port, all small letters. */
function isOrigin(text: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s*]+$/.test(text) || !URL.canParse(text)) return false;
  return !/^https?:/.test(text) || new URL(text).origin === text;
}

function readJwt(env: Environment): JwtOptions | undefined {
  const { JWT_ISSUER: issuer, JWT_AUDIENCE: audience, JWKS_URL: jwksUrl, JWT_RATE: rate } = env;
  if (issuer === undefined) {
    const name = ['JWT_AUDIENCE', 'JWKS_URL', 'JWT_RATE'].find((other) => env[other] !== undefined);
    if (name) throw new UsageError(`${name} needs JWT_ISSUER, too: whose tokens are taken`);
    return undefined;
  }
  if (audience === undefined || listOf(audience).length === 0) {
    throw new UsageError('JWT_ISSUER needs JWT_AUDIENCE, too: the "aud" of tokens that are meant for this service');
  }
  if (jwksUrl === undefined) readUrl('JWT_ISSUER', issuer, 'a URL such as https://id.example.com, or JWKS_URL be set');
  return {
    issuer,
    audience: listOf(audience),
    jwksUrl:
      jwksUrl === undefined ? undefined : readUrl('JWKS_URL', jwksUrl, 'a URL such as https://id.example.com/jwks'),
    rate: rate === undefined ? null : readRate('JWT_RATE', rate),
  };
}

/** `name` is a variable, or an option of a command. */
export function readRate(name: string, text: string): Rate {
  const rate = parseRate(text);
  if (rate) return rate;
  throw refuse(name, text, RATE_FORM);
}

function readSwitch(name: string, text: string): boolean {
  if (text === '0' || text === '1') return text === '1';
  throw refuse(name, text, '0 or 1');
}
