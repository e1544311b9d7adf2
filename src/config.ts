// The only reader of the environment: variables → a frozen Config, or a Refusal that names the
// variable, what is wrong with it and what it takes. Opens nothing.

import { Refusal } from './refusal.ts';

const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface Config {
  host: string;
  port: number;
  /** Path of the SQLite file. */
  databasePath: string;
  /** Empty, or a path that begins with a slash and does not end with one. */
  basePath: string;
  logLevel: LogLevel;
  accessLog: boolean;
  /** For a command that talks to a server. */
  clientToken: string | undefined;
  startedByNpm: boolean;
}

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
    databasePath: readDatabasePath(env.DATABASE_URL ?? 'sqlite:./data/plants.db'),
    basePath: readBasePath(env.BASE_PATH ?? ''),
    logLevel: readLogLevel(env.LOG_LEVEL ?? 'info'),
    accessLog: readSwitch('ACCESS_LOG', env.ACCESS_LOG ?? '0'),
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

function readDatabasePath(text: string): string {
  if (/^postgres(ql)?:/.test(text)) {
    throw new Refusal('DATABASE_URL names PostgreSQL, which this version does not speak: use sqlite:PATH', 2);
  }
  const path = /^sqlite:(?:\/\/(?=\/))?([^?#\0]+)$/.exec(text)?.[1];
  if (path === undefined || /^(:|~|\/\/|file:)|\/$/.test(path)) {
    throw new Refusal('DATABASE_URL must be sqlite:PATH such as sqlite:./data/plants.db', 2); // a URL may hold a password
  }
  return path;
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
