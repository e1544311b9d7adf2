// The only reader of the environment: variables → a frozen Config, or a Refusal that names the
// variable, what is wrong with it and what it takes. Opens nothing.

import { Refusal } from './refusal.ts';

const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface Config {
  host: string;
  port: number;
  database: Database;
  /** Empty, or a path that begins with a slash and does not end with one. */
  basePath: string;
  logLevel: LogLevel;
  accessLog: boolean;
  /** Webhooks may lead into private networks, also without TLS. */
  allowPrivateWebhooks: boolean;
  /** For a command that talks to a server. */
  clientToken: string | undefined;
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

type Environment = Record<string, string | undefined>;

/** Refused rather than ignored: who sets TLS_KEY must not be served in the clear. */
const NOT_YET = /^(CORS_ORIGINS|JWT_\w+|JWKS_URL|TLS_(CERT|KEY)|TRUST_PROXY)$/;

export function readConfig(environment: Environment = process.env): Config {
  const env: Environment = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  for (const name of Object.keys(env)) {
    if (NOT_YET.test(name)) throw new Refusal(`${name} is not supported by this version: unset it`, 2);
  }
  return Object.freeze({
    host: readHost(env.HOST ?? '127.0.0.1'),
    port: readPort(env.PORT ?? '3000'),
    database: readDatabase(env.DATABASE_URL ?? 'sqlite:./data/plants.db', env),
    basePath: readBasePath(env.BASE_PATH ?? ''),
    logLevel: readLogLevel(env.LOG_LEVEL ?? 'info'),
    accessLog: readSwitch('ACCESS_LOG', env.ACCESS_LOG ?? '0'),
    allowPrivateWebhooks: readSwitch('WEBHOOK_ALLOW_PRIVATE', env.WEBHOOK_ALLOW_PRIVATE ?? '0'),
    clientToken: env.PLANT_STORE_TOKEN,
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

const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** `name` is where the URL comes from: a variable, or an option of a command. */
export function readDatabase(text: string, env: Environment = process.env, name = 'DATABASE_URL'): Database {
  if (/^postgres(ql)?:/.test(text)) {
    if (!/^postgres(ql)?:\/\/[^/?#\s]*\/[^/?#@\s]+(\?\S*)?$/.test(text) || !URL.canParse(text)) {
      // not echoed: a URL may hold a password
      throw new Refusal(
        `${name} must be postgres://USER:PASSWORD@HOST:PORT/DATABASE, or sqlite:PATH; in a password, write @ as %40 and / as %2F`,
        2,
      );
    }
    const mode = new URL(text).searchParams.get('sslmode') ?? 'disable';
    if (!SSL_MODES.includes(mode)) throw new Refusal(`${name} has an sslmode other than ${SSL_MODES.join(', ')}`, 2);
    return {
      kind: 'postgres',
      url: text,
      poolSize: readNumber('DATABASE_POOL_SIZE', env.DATABASE_POOL_SIZE ?? '10', 1, 1000),
      statementTimeoutMs: readNumber('DATABASE_TIMEOUT_MS', env.DATABASE_TIMEOUT_MS ?? '10000', 100, 600_000),
    };
  }
  const path = /^sqlite:(?:\/\/(?=\/))?([^?#\0]+)$/.exec(text)?.[1];
  if (path === undefined || /^(:|~|\/\/|file:)|\/$/.test(path)) {
    throw new Refusal(
      `${name} must be sqlite:PATH such as sqlite:./data/plants.db, or postgres://USER:PASSWORD@HOST:PORT/DATABASE`,
      2,
    );
  }
  return { kind: 'sqlite', path };
}

/** For people and logs: without a password. */
export function describeDatabase(database: Database): string {
  return database.kind === 'sqlite' ? `sqlite:${database.path}` : describeUrl(database.url);
}

export function describeUrl(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

function readNumber(name: string, text: string, min: number, max: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw refuse(name, text, `a number from ${min} to ${max}`);
}

function readBasePath(text: string): string {
  const path = text.replace(/\/$/, '');
  if (/^(\/[A-Za-z0-9._~-]+)*$/.test(path) && !/\/\.\.?(\/|$)/.test(path)) return path;
  throw refuse('BASE_PATH', text, 'a path such as /store');
}

function readLogLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((known) => known === text);
  if (level) return level;
  throw refuse('LOG_LEVEL', text, `one of ${LOG_LEVELS.join(', ')}`);
}

function readSwitch(name: string, text: string): boolean {
  if (text === '0' || text === '1') return text === '1';
  throw refuse(name, text, '0 or 1');
}

function refuse(name: string, text: string, wanted: string): Refusal {
  return new Refusal(`${name} must be ${wanted}, not "${text}"`, 2);
}
