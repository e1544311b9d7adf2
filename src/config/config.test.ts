import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';
import { UsageError } from '../lib/user-error.ts';
import { describeDatabase, parseConfig, readConfig } from './config.ts';
import { listSettings } from './settings.ts';

test('readConfig() has a default for every setting and ignores empty values', () => {
  const defaults = {
    host: '127.0.0.1',
    port: 3000,
    threads: Math.min(availableParallelism(), 8),
    database: { kind: 'sqlite', path: './data/plants.db' },
    backups: undefined,
    basePath: '',
    logLevel: 'info',
    accessLog: false,
    tls: undefined,
    trustProxy: undefined,
    corsOrigins: [],
    jwt: undefined,
    traces: undefined,
    warnings: [],
    allowPrivateWebhooks: false,
    clientToken: undefined,
    serverUrl: 'http://127.0.0.1:3000',
    serverUrlFrom: 'defaults',
    clientProfile: undefined,
    startedByNpm: false,
  };
  assert.deepEqual(readConfig({}), defaults);
  assert.deepEqual(readConfig({ PORT: '', DATABASE_URL: '', TLS_KEY: '' }), defaults);
  assert.ok(Object.isFrozen(readConfig({})));
});

test('readConfig() keeps a PostgreSQL URL unchanged and reads the settings of the pool', () => {
  const url = 'postgresql://user:secret@db.example.com:6432/plants?sslmode=verify-full';
  assert.deepEqual(readConfig({ DATABASE_URL: url }).database, {
    kind: 'postgres',
    url,
    poolSize: 10,
    statementTimeoutMs: 10_000,
  });
  const { database } = readConfig({ DATABASE_URL: url, DATABASE_POOL_SIZE: '3', DATABASE_TIMEOUT_MS: '2500' });
  assert.deepEqual(database, { kind: 'postgres', url, poolSize: 3, statementTimeoutMs: 2500 });
  assert.equal(describeDatabase(database), 'postgresql://db.example.com:6432/plants');
  for (const wrong of [{ DATABASE_POOL_SIZE: '0' }, { DATABASE_POOL_SIZE: 'x' }, { DATABASE_TIMEOUT_MS: '5s' }]) {
    assert.throws(() => readConfig({ DATABASE_URL: url, ...wrong }), UsageError);
  }
});

test('readConfig() starts no more threads than the pool of PostgreSQL has connections for', () => {
  const read = (env: Record<string, string>) => readConfig({ DATABASE_URL: 'postgres://u@db/plants', ...env }).threads;
  assert.equal(read({}), Math.min(availableParallelism(), 2));
  assert.equal(read({ DATABASE_POOL_SIZE: '3' }), 1);
  assert.equal(read({ DATABASE_POOL_SIZE: '3', THREADS: '3' }), 3);
  assert.throws(
    () => read({ DATABASE_POOL_SIZE: '3', THREADS: '4' }),
    new UsageError('THREADS must be at most DATABASE_POOL_SIZE, which is 3, not "4"'),
  );
});

const ACCEPTED: [variable: string, value: string, field: string, expected: unknown][] = [
  ['HOST', '::1', 'host', '::1'],
  ['PORT', '0', 'port', 0],
  ['THREADS', '1', 'threads', 1],
  ['THREADS', '64', 'threads', 64],
  ['PORT', '65535', 'port', 65535],
  ['DATABASE_URL', 'sqlite:/var/lib/p.db', 'database', { kind: 'sqlite', path: '/var/lib/p.db' }],
  ['DATABASE_URL', 'sqlite:///var/lib/p.db', 'database', { kind: 'sqlite', path: '/var/lib/p.db' }],
  ['DATABASE_URL', 'sqlite:p.db', 'database', { kind: 'sqlite', path: 'p.db' }],
  ['BASE_PATH', '/store/v1', 'basePath', '/store/v1'],
  ['BASE_PATH', '/store/v1', 'serverUrl', 'http://127.0.0.1:3000/store/v1'],
  ['PORT', '8080', 'serverUrl', 'http://127.0.0.1:8080'],
  ['PORT', '0', 'serverUrl', undefined],
  ['HOST', '0.0.0.0', 'serverUrl', 'http://127.0.0.1:3000'],
  ['HOST', '::', 'serverUrl', 'http://[::1]:3000'],
  ['HOST', 'plants.example.com', 'serverUrl', 'http://plants.example.com:3000'],
  ['PLANT_STORE_URL', 'https://plants.example.com/store', 'serverUrl', 'https://plants.example.com/store'],
  ['PLANT_STORE_URL', 'https://plants.example.com', 'serverUrlFrom', 'PLANT_STORE_URL'],
  ['PORT', '8080', 'serverUrlFrom', 'server settings'],
  ['PLANT_STORE_PROFILE', 'staging', 'clientProfile', 'staging'],
  ['BASE_PATH', '/store/', 'basePath', '/store'],
  ['BASE_PATH', '/', 'basePath', ''],
  ['LOG_LEVEL', 'debug', 'logLevel', 'debug'],
  ['ACCESS_LOG', '1', 'accessLog', true],
  ['WEBHOOK_ALLOW_PRIVATE', '1', 'allowPrivateWebhooks', true],
  ['TRUST_PROXY', '1', 'trustProxy', 1],
  ['TRUST_PROXY', 'loopback, 10.0.0.0/8,2001:db8::1', 'trustProxy', ['loopback', '10.0.0.0/8', '2001:db8::1']],
  ['CORS_ORIGINS', '*', 'corsOrigins', ['*']],
  [
    'CORS_ORIGINS',
    'https://shop.example.com, http://localhost:5173,capacitor://localhost',
    'corsOrigins',
    ['https://shop.example.com', 'http://localhost:5173', 'capacitor://localhost'],
  ],
];

for (const [variable, value, field, expected] of ACCEPTED) {
  test(`readConfig() accepts ${variable}=${value}`, () => {
    const [, given] = Object.entries(readConfig({ [variable]: value })).find(([name]) => name === field) ?? [];
    assert.deepEqual(given, expected);
  });
}

const REFUSED: [variable: string, value: string][] = [
  ['HOST', 'a b'],
  ['PORT', 'http'],
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['PORT', '3000.5'],
  ['THREADS', '0'],
  ['THREADS', '65'],
  ['THREADS', 'all'],
  ['DATABASE_URL', './data/plants.db'],
  ['DATABASE_URL', 'mysql://localhost/x'],
  ['DATABASE_URL', 'postgres:x'],
  ['DATABASE_URL', 'postgres://user:secret@localhost'],
  ['DATABASE_URL', 'postgres://user:secret@local host/x'],
  ['DATABASE_URL', 'postgres://user:secret@localhost:port/x'],
  ['DATABASE_URL', 'postgres://user:12/secret@localhost/x'],
  ['DATABASE_URL', 'postgres://user:12/secret@localhost'],
  ['DATABASE_URL', 'postgres://user:secret@localhost/x?sslmode=bogus'],
  ['DATABASE_URL', 'postgress://user:secret@localhost/x'],
  ['DATABASE_URL', 'sqlite:'],
  ['DATABASE_URL', 'sqlite::memory:'],
  ['DATABASE_URL', 'sqlite:./data/'],
  ['DATABASE_URL', 'sqlite:~/plants.db'],
  ['DATABASE_URL', 'sqlite:file:/tmp/plants.db'],
  ['DATABASE_URL', 'sqlite://tmp/plants.db'],
  ['BASE_PATH', 'store'],
  ['BASE_PATH', '/a//b'],
  ['BASE_PATH', '/a/../b'],
  ['BASE_PATH', '/a?b'],
  ['LOG_LEVEL', 'loud'],
  ['ACCESS_LOG', 'yes'],
  ['WEBHOOK_ALLOW_PRIVATE', 'yes'],
  ['TLS_KEY', '/etc/key.pem'],
  ['TLS_CERT', '/etc/cert.pem'],
  ['TRUST_PROXY', 'true'],
  ['TRUST_PROXY', '0'],
  ['TRUST_PROXY', 'proxy.example.com'],
  ['TRUST_PROXY', '10.0.0.0/33'],
  ['TRUST_PROXY', '0.0.0.0/0'],
  ['TRUST_PROXY', '::/0'],
  ['TRUST_PROXY', '10.0.0.0/8/9'],
  ['TRUST_PROXY', 'fe80::1%eth0'],
  ['TRUST_PROXY', ','],
  ['CORS_ORIGINS', 'shop.example.com'],
  ['CORS_ORIGINS', 'https://shop.example.com/'],
  ['CORS_ORIGINS', 'https://shop.example.com:443'],
  ['CORS_ORIGINS', 'https://Shop.example.com'],
  ['CORS_ORIGINS', 'https://*.example.com'],
  ['CORS_ORIGINS', '*,https://shop.example.com'],
  ['CORS_ORIGINS', 'null'],
  ['JWT_ISSUER', 'https://example.com'],
  ['JWT_AUDIENCE', 'plants'],
  ['JWKS_URL', 'https://example.com/jwks'],
  ['JWT_RATE', '10/s'],
  ['BACKUP_DIR', '~/backups'],
  ['BACKUP_EVERY', '1h'],
  ['BACKUP_KEEP', '24'],
];

test('readConfig() reads the schedule of backups', () => {
  const env = { BACKUP_DIR: 'backups' };
  assert.deepEqual(readConfig(env).backups, { dir: 'backups', everyMs: 3_600_000, keep: 24 });
  const given = readConfig({ ...env, BACKUP_EVERY: '2w', BACKUP_KEEP: '1' }).backups;
  assert.deepEqual(given, { dir: 'backups', everyMs: 1_209_600_000, keep: 1 });
  assert.equal(readConfig({}).backups, undefined);
  for (const [name, value] of [
    ['BACKUP_EVERY', '9s'],
    ['BACKUP_EVERY', '15d'],
    ['BACKUP_EVERY', '60'],
    ['BACKUP_KEEP', '0'],
    ['BACKUP_KEEP', '10001'],
  ] as const) {
    assert.throws(
      () => readConfig({ ...env, [name]: value }),
      new RegExp(`^UserError: ${name} must be .*not "${value}"$`),
    );
  }
});

test('readConfig() reads the settings of an identity provider', () => {
  const env = { JWT_ISSUER: 'https://id.example.com/', JWT_AUDIENCE: 'plants, https://plants.example.com' };
  const audience = ['plants', 'https://plants.example.com'];
  const expected = { issuer: 'https://id.example.com/', audience, jwksUrl: undefined, rate: null };
  assert.deepEqual(readConfig(env).jwt, expected);
  const JWKS_URL = 'http://127.0.0.1:8080/keys';
  assert.deepEqual(readConfig({ ...env, JWT_ISSUER: 'accounts', JWKS_URL, JWT_RATE: '10/m' }).jwt, {
    ...expected,
    issuer: 'accounts',
    jwksUrl: JWKS_URL,
    rate: { count: 10, periodMs: 60_000 },
  });
  const wrong: [string, string][] = [
    ['JWKS_URL', 'ftp://example.com/'],
    ['JWKS_URL', 'https://user:secret@example.com/'],
    ['JWT_RATE', '10'],
    ['JWT_ISSUER', 'accounts'],
  ];
  assert.throws(() => readConfig({ ...env, JWT_AUDIENCE: ' , ' }), /requires JWT_AUDIENCE/);
  for (const [name, value] of wrong) {
    assert.throws(() => readConfig({ ...env, [name]: value }), new RegExp(`${name} must be (?!.*secret)`));
  }
});

test('readConfig() reads the files of a certificate and its key', () => {
  assert.deepEqual(readConfig({ TLS_CERT: 'a.pem', TLS_KEY: 'b.pem' }).tls, { certPath: 'a.pem', keyPath: 'b.pem' });
});

for (const [variable, value] of REFUSED) {
  test(`readConfig() rejects ${variable}=${value}`, () => {
    assert.throws(
      () => readConfig({ [variable]: value }),
      (error: UsageError) => {
        assert.ok(error instanceof UsageError);
        assert.match(error.message, new RegExp(`^${variable} `));
        assert.doesNotMatch(error.message, /\n|secret/);
        return true;
      },
    );
  });
}

test('the table of settings has every variable that is read, and no other', () => {
  const read = new Set<string>();
  const values = {
    DATABASE_URL: 'postgres://127.0.0.1/plants',
    JWT_ISSUER: 'https://id.example.com',
    JWT_AUDIENCE: 'plants',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
    OTEL_TRACES_SAMPLER: 'traceidratio',
  };
  const environment: Record<string, string | undefined> = new Proxy(values, {
    get(target, name) {
      read.add(String(name));
      return Reflect.get(target, name);
    },
  });
  assert.ok(parseConfig(environment).traces);
  read.delete('npm_lifecycle_event'); // set by npm, not by users
  const listed = listSettings()
    .filter(({ isForPackages }) => !isForPackages)
    .flatMap(({ name, tracesOnly }) => [name, ...(tracesOnly ? [tracesOnly] : [])]);
  assert.deepEqual([...read].sort(), listed.sort());
});

test('readConfig() collects the warnings about OpenTelemetry variables', () => {
  const { warnings } = readConfig({ OTEL_TRACES_EXPORTER: 'console,zipkin', OTEL_PROPAGATORS: 'b3' });
  assert.deepEqual(
    warnings.map((message) => message.split(' ', 2).join(' ')),
    ['OTEL_TRACES_EXPORTER: "zipkin"', 'OTEL_PROPAGATORS: "b3"'],
  );
});

test('every example in the table of settings is a valid value', () => {
  const all = Object.fromEntries(listSettings().map(({ name, example }) => [name, example]));
  const { BACKUP_DIR, BACKUP_EVERY, BACKUP_KEEP, ...examples } = all; // for SQLite only
  assert.ok(readConfig({ BACKUP_DIR, BACKUP_EVERY, BACKUP_KEEP }).backups);
  const files = Object.fromEntries(
    Object.keys(examples)
      .filter((name) => /^OTEL_.*(CERTIFICATE|KEY)$/.test(name))
      .map((name) => [name, import.meta.filename]),
  );
  assert.ok(readConfig({ ...examples, ...files, OTEL_SDK_DISABLED: 'false', OTEL_TRACES_EXPORTER: 'otlp' }).traces);
});
