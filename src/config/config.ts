// Reads the environment into a frozen Config. An invalid variable throws a UsageError that describes the valid values.
// No other file of the service reads the environment.

import { isIP } from 'node:net';
import { availableParallelism, totalmem } from 'node:os';
import type { JwtOptions } from '../auth/jwt-verifier.ts';
import { parseRate, RATE_FORM, type Rate } from '../lib/token-bucket.ts';
import { UsageError } from '../lib/user-error.ts';
import type { LogLevel } from '../observability/log.ts';
import type { TracingOptions } from '../observability/tracing.ts';
import { describeConnectionUrl, InvalidConnectionUrl, parseConnectionUrl } from '../storage/postgres/connection-url.ts';
import { MAX_THREADS } from '../storage/sqlite/announced-batches.ts';
import { type BackupSchedule, readBackupSchedule } from './backup-config.ts';
import { readTraces } from './otel-config.ts';
import { listOf, readNumber, readOneOf, readUrl, refuse } from './parse-setting.ts';
import { SETTINGS, type SettingName } from './settings.ts';

/** Variables that change the URL of a server on this machine. */
const LOCAL_URL_PARTS = ['HOST', 'PORT', 'BASE_PATH', 'TLS_CERT'];
const MAX_DEFAULT_THREADS = 8;
/** What each thread needs, unless THREADS is set: connections to PostgreSQL, and memory. The process starts with one. */
const CONNECTIONS_PER_THREAD = 4;
const [FIRST_THREAD_MIB, THREAD_MIB] = [256, 64];
const LOG_LEVELS: readonly LogLevel[] = ['silent', 'error', 'warn', 'info', 'debug'];

export interface Config {
  host: string;
  port: number;
  /** Number of threads that serve requests. */
  threads: number;
  database: Database;
  /** Schedule of the backups. Undefined if they are off. */
  backups: BackupSchedule | undefined;
  /** Empty, or a path that starts with a slash and does not end with one. */
  basePath: string;
  logLevel: LogLevel;
  accessLog: boolean;
  /** Files of the certificate and its key. If set, the server accepts only TLS. */
  tls: TlsFiles | undefined;
  /** Proxies whose `X-Forwarded-For` is trusted: addresses and networks, or the number of proxies. */
  trustProxy: string[] | number | undefined;
  /** Origins whose pages can use the API. `*` allows all. */
  corsOrigins: string[];
  /** Identity provider whose JWTs are accepted. */
  jwt: JwtOptions | undefined;
  /** Destination and sampling of traces. Undefined if traces are off. */
  traces: TracingOptions | undefined;
  /** One message for each value that is ignored. */
  warnings: string[];
  /** True if webhook URLs in private networks are allowed, with or without TLS. */
  allowPrivateWebhooks: boolean;
  /** Token of a command that uses a server. */
  clientToken: string | undefined;
  /** URL of the server for such a command. Undefined if PORT is 0, any free port. */
  serverUrl: string | undefined;
  /** Variables that determine `serverUrl`. */
  serverUrlFrom: 'PLANT_STORE_URL' | 'server settings' | 'defaults';
  /** Name of the saved profile that such a command uses. */
  clientProfile: string | undefined;
  startedByNpm: boolean;
}

export type Database =
  | { kind: 'sqlite'; path: string }
  | {
      kind: 'postgres';
      /** URL of the database, which can contain a password. */
      url: string;
      poolSize: number;
      statementTimeoutMs: number;
    };

export interface TlsFiles {
  certPath: string;
  keyPath: string;
}

type Environment = Record<string, string | undefined>;

/** An option of a command that takes precedence over a variable. */
export interface Override {
  variable: SettingName;
  /** Name of the option, such as `--port`, for messages. */
  option: string;
  value: string;
}

/** Returns the configuration. An empty variable counts as not set. */
export function readConfig(environment: Environment, overrides: Override[] = []): Config {
  const given = Object.entries(environment).filter(([, value]) => value !== '');
  const values = overrides.map(({ variable, value }) => [variable, value] as const);
  const names = Object.fromEntries(overrides.map(({ variable, option }) => [variable, option]));
  return parseConfig(Object.fromEntries([...given, ...values]), (variable) => names[variable] ?? variable);
}

/** Returns the configuration for an environment without empty values. Messages use the names that `nameOf` returns. */
export function parseConfig(env: Environment, nameOf: (variable: SettingName) => string = String): Config {
  const warnings: string[] = [];
  const database = readDatabase(env.DATABASE_URL ?? SETTINGS.DATABASE_URL.default, env, nameOf('DATABASE_URL'));
  return Object.freeze({
    host: readHost(env, nameOf('HOST')),
    port: readPort(env, nameOf('PORT')),
    threads: readThreads(env, database),
    database,
    backups: readBackupSchedule(env, database.kind, nameOf),
    basePath: readBasePath(env.BASE_PATH ?? ''),
    logLevel: readOneOf('LOG_LEVEL', env.LOG_LEVEL ?? SETTINGS.LOG_LEVEL.default, LOG_LEVELS),
    accessLog: readSwitch('ACCESS_LOG', env.ACCESS_LOG ?? SETTINGS.ACCESS_LOG.default),
    tls: readTls(env),
    trustProxy: env.TRUST_PROXY === undefined ? undefined : readTrustProxy(env.TRUST_PROXY),
    corsOrigins: env.CORS_ORIGINS === undefined ? [] : readOrigins(env.CORS_ORIGINS),
    jwt: readJwt(env),
    traces: readTraces(env, (message) => warnings.push(message)),
    warnings,
    allowPrivateWebhooks: readSwitch(
      'WEBHOOK_ALLOW_PRIVATE',
      env.WEBHOOK_ALLOW_PRIVATE ?? SETTINGS.WEBHOOK_ALLOW_PRIVATE.default,
    ),
    clientToken: env.PLANT_STORE_TOKEN,
    serverUrl: readServerUrl(env),
    serverUrlFrom: findServerUrlSource(env),
    clientProfile: env.PLANT_STORE_PROFILE,
    startedByNpm: env.npm_lifecycle_event !== undefined,
  });
}

function readHost({ HOST: text = SETTINGS.HOST.default }: Environment, name = 'HOST'): string {
  if (/^[A-Za-z0-9._:%-]+$/.test(text)) return text;
  throw refuse(name, text, 'a host name or an address such as 127.0.0.1, :: or 0.0.0.0');
}

function readPort({ PORT: text = SETTINGS.PORT.default }: Environment, name = 'PORT'): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65535) return Number(text);
  throw refuse(name, text, 'an integer from 0 (any free port) to 65535');
}

/** Returns the number of threads that serve requests. */
function readThreads({ THREADS: text }: Environment, database: Database): number {
  const poolSize = database.kind === 'postgres' ? database.poolSize : Number.POSITIVE_INFINITY;
  if (text === undefined) return defaultThreads(poolSize);
  const threads = readNumber('THREADS', text, 1, MAX_THREADS);
  if (threads <= poolSize) return threads;
  throw refuse('THREADS', text, `at most DATABASE_POOL_SIZE, which is ${poolSize}`);
}

/** Returns one thread per core, but no more than memory and connections suffice for. */
function defaultThreads(poolSize: number): number {
  const memoryMib = Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem()) / 2 ** 20;
  const byMemory = Math.floor((memoryMib - FIRST_THREAD_MIB) / THREAD_MIB) + 1;
  const byPool = Math.floor(poolSize / CONNECTIONS_PER_THREAD);
  return Math.max(1, Math.min(availableParallelism(), MAX_DEFAULT_THREADS, byMemory, byPool));
}

/** Returns PLANT_STORE_URL, or the URL of a server that listens with the same settings. */
function readServerUrl(env: Environment): string | undefined {
  if (env.PLANT_STORE_URL !== undefined) {
    return readUrl('PLANT_STORE_URL', env.PLANT_STORE_URL, 'the URL of a server, such as http://127.0.0.1:3000');
  }
  const port = readPort(env);
  if (port === 0) return undefined;
  const host = readHost(env);
  const reached = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  const scheme = readTls(env) ? 'https' : 'http';
  return `${scheme}://${isIP(reached) === 6 ? `[${reached}]` : reached}:${port}${readBasePath(env.BASE_PATH ?? '')}`;
}

function findServerUrlSource(env: Environment): Config['serverUrlFrom'] {
  if (env.PLANT_STORE_URL !== undefined) return 'PLANT_STORE_URL';
  return LOCAL_URL_PARTS.some((name) => env[name] !== undefined) ? 'server settings' : 'defaults';
}

/** Parses a database URL. The error message names `name`, a variable or an option of a command. */
export function readDatabase(text: string, env: Environment, name = 'DATABASE_URL'): Database {
  if (/^postgres(ql)?:/.test(text)) {
    requireConnectionUrl(text, name);
    return {
      kind: 'postgres',
      url: text,
      poolSize: readNumber(
        'DATABASE_POOL_SIZE',
        env.DATABASE_POOL_SIZE ?? SETTINGS.DATABASE_POOL_SIZE.default,
        1,
        1000,
      ),
      statementTimeoutMs: readNumber(
        'DATABASE_TIMEOUT_MS',
        env.DATABASE_TIMEOUT_MS ?? SETTINGS.DATABASE_TIMEOUT_MS.default,
        100,
        600_000,
      ),
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

/** Throws UsageError for an invalid URL. The URL is not echoed, because it may contain a password. */
function requireConnectionUrl(text: string, name: string): void {
  try {
    parseConnectionUrl(text);
  } catch (error) {
    throw error instanceof InvalidConnectionUrl ? new UsageError(`${name} ${error.message}`) : error;
  }
}

/** Returns the database URL without its password, for messages and logs. */
export function describeDatabase(database: Database): string {
  return database.kind === 'sqlite' ? `sqlite:${database.path}` : describeConnectionUrl(database.url);
}

function readBasePath(text: string): string {
  const path = text.replace(/\/$/, '');
  if (/^(\/[A-Za-z0-9._~-]+)*$/.test(path) && !/\/\.\.?(\/|$)/.test(path)) return path;
  throw refuse('BASE_PATH', text, 'a path such as /store');
}

function readTls({ TLS_CERT: certPath, TLS_KEY: keyPath }: Environment): TlsFiles | undefined {
  if (certPath !== undefined && keyPath !== undefined) return { certPath, keyPath };
  if (certPath === undefined && keyPath === undefined) return undefined;
  const [given, missing] = certPath === undefined ? ['TLS_KEY', 'TLS_CERT'] : ['TLS_CERT', 'TLS_KEY'];
  throw new UsageError(`${given} requires ${missing}. Set both to PEM files, the certificate and its key.`);
}

const NETWORK_NAMES = ['loopback', 'linklocal', 'uniquelocal'];

/** Parses TRUST_PROXY. It does not accept "true", with which any client could choose its own address. */
function readTrustProxy(text: string): string[] | number {
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  const networks = listOf(text);
  if (networks.length > 0 && networks.every(isNetwork)) return networks;
  throw refuse(
    'TRUST_PROXY',
    text,
    'addresses or networks of proxies (10.0.0.7, 10.0.0.0/8, loopback), separated by commas, or the number of proxies (1)',
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
    '* or a comma-separated list of origins, each as a browser sends it: https://shop.example.com (lower case, no default port, no final slash)',
  );
}

/** True for an origin in the form that a browser sends: no default port, all lower case. */
function isOrigin(text: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s*]+$/.test(text) || !URL.canParse(text)) return false;
  return !/^https?:/.test(text) || new URL(text).origin === text;
}

function readJwt(env: Environment): JwtOptions | undefined {
  const { JWT_ISSUER: issuer, JWT_AUDIENCE: audience, JWKS_URL: jwksUrl, JWT_RATE: rate } = env;
  if (issuer === undefined) {
    const name = ['JWT_AUDIENCE', 'JWKS_URL', 'JWT_RATE'].find((other) => env[other] !== undefined);
    if (name) throw new UsageError(`${name} requires JWT_ISSUER, the issuer of the accepted tokens`);
    return undefined;
  }
  if (audience === undefined || listOf(audience).length === 0) {
    throw new UsageError('JWT_ISSUER requires JWT_AUDIENCE, the "aud" of tokens for this service');
  }
  if (jwksUrl === undefined)
    readUrl('JWT_ISSUER', issuer, 'a URL such as https://id.example.com, unless JWKS_URL is set');
  return {
    issuer,
    audience: listOf(audience),
    jwksUrl:
      jwksUrl === undefined ? undefined : readUrl('JWKS_URL', jwksUrl, 'a URL such as https://id.example.com/jwks'),
    rate: rate === undefined ? null : readRate('JWT_RATE', rate),
  };
}

/** Parses a rate. The error message names `name`, a variable or an option of a command. */
export function readRate(name: string, text: string): Rate {
  const rate = parseRate(text);
  if (rate) return rate;
  throw refuse(name, text, RATE_FORM);
}

function readSwitch(name: string, text: string): boolean {
  if (text === '0' || text === '1') return text === '1';
  throw refuse(name, text, '0 or 1');
}
