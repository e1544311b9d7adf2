// The one table of all settings: config.ts and otel-config.ts take their defaults from it, and "plant-store settings"
// and docs/reference/configuration.md are generated from it.

export interface Setting {
  group: keyof typeof SETTING_GROUPS;
  /** Value that applies if the variable is not set. Without it, the feature is off or `defaultText` applies. */
  default?: string;
  /** Description of a default that is not a fixed value. */
  defaultText?: string;
  /** Description of the variable, in one or two sentences. */
  meaning: string;
  example: string;
  /** Name of the same variable for traces only. It takes precedence. */
  tracesOnly?: string;
  /** True if only the OpenTelemetry packages read the variable. */
  isForPackages?: true;
}

/** Headings of the groups, in the order of the reference. */
export const SETTING_GROUPS = {
  server: 'Server',
  database: 'Database',
  backups: 'Scheduled backups (SQLite)',
  access: 'TLS, proxies and browsers',
  jwt: 'Identity provider (JWT)',
  webhooks: 'Webhooks',
  logs: 'Logs',
  commands: 'Commands that use a running server',
  traces: 'Traces (OpenTelemetry)',
} as const;

export const SETTINGS = {
  HOST: {
    group: 'server',
    default: '127.0.0.1',
    meaning: 'Address or host name on which the server listens. Use `0.0.0.0` or `::` for all interfaces.',
    example: '0.0.0.0',
  },
  PORT: {
    group: 'server',
    default: '3000',
    meaning: 'Port on which the server listens. `0` selects any free port.',
    example: '8080',
  },
  THREADS: {
    group: 'server',
    defaultText: 'one per core, at most 8',
    meaning:
      'Number of threads that serve requests, from 1 to 64. The default is lower if memory is short, and on PostgreSQL at most a quarter of `DATABASE_POOL_SIZE`, which the threads share. Only Linux supports more than one.',
    example: '4',
  },
  BASE_PATH: {
    group: 'server',
    meaning: 'Prefix of every path, for a proxy that forwards paths unchanged.',
    example: '/store',
  },
  DATABASE_URL: {
    group: 'database',
    default: 'sqlite:./data/plants.db',
    meaning:
      'Database with the records: `sqlite:PATH`, relative to the working directory, or `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. PostgreSQL URLs follow the syntax of `psql`, with several hosts, `host=/SOCKET/FOLDER`, `target_session_attrs`, `connect_timeout` and `sslmode`. Without `sslmode`, the connection is not encrypted.',
    example: 'postgres://plants:secret@db.example.com:5432/plants?sslmode=verify-full',
  },
  DATABASE_POOL_SIZE: {
    group: 'database',
    default: '10',
    meaning:
      'Maximum number of pooled PostgreSQL connections per node. `LISTEN` and each export in progress use one more. Below 4 per thread, one slow search can block the other requests of the thread.',
    example: '20',
  },
  DATABASE_TIMEOUT_MS: {
    group: 'database',
    default: '10000',
    meaning: 'Time in milliseconds after which PostgreSQL cancels a statement. It never cancels a `COMMIT`.',
    example: '5000',
  },
  BACKUP_DIR: {
    group: 'backups',
    meaning:
      'Folder into which the server writes backups while it runs. The server creates the folder. Use one folder per store, on another disk.',
    example: '/var/backups/plant-store',
  },
  BACKUP_EVERY: {
    group: 'backups',
    default: '1h',
    meaning: 'Interval between two backups, from `10s` to `2w`.',
    example: '1d',
  },
  BACKUP_KEEP: {
    group: 'backups',
    default: '24',
    meaning:
      'Number of backups that the server keeps, from 1 to 10000. After a new backup, the server deletes the oldest beyond this number.',
    example: '168',
  },
  TLS_CERT: {
    group: 'access',
    meaning:
      'PEM file with the certificate and its chain. With `TLS_CERT` and `TLS_KEY`, the server accepts only https. It reloads both files when they change.',
    example: '/etc/plant-store/fullchain.pem',
  },
  TLS_KEY: {
    group: 'access',
    meaning: 'PEM file with the private key of `TLS_CERT`.',
    example: '/etc/plant-store/privkey.pem',
  },
  TRUST_PROXY: {
    group: 'access',
    meaning:
      'Proxies whose `X-Forwarded-For` the server trusts: addresses and networks, separated by commas, or the number of proxies in front of the server.',
    example: '10.0.0.0/8,loopback',
  },
  CORS_ORIGINS: {
    group: 'access',
    meaning: 'Origins whose pages can use the API in a browser, separated by commas, or `*` for all origins.',
    example: 'https://shop.example.com',
  },
  JWT_ISSUER: {
    group: 'jwt',
    meaning:
      'Identity provider whose JWTs the server accepts, compared with `iss`. Requires `JWT_AUDIENCE`. Without it, the server accepts no JWTs.',
    example: 'https://id.example.com',
  },
  JWT_AUDIENCE: {
    group: 'jwt',
    meaning: 'Accepted values of `aud`, separated by commas.',
    example: 'plants',
  },
  JWKS_URL: {
    group: 'jwt',
    defaultText: 'from the metadata of the issuer',
    meaning: 'URL of the public keys of the identity provider.',
    example: 'https://id.example.com/jwks',
  },
  JWT_RATE: {
    group: 'jwt',
    defaultText: 'no limit',
    meaning: 'Maximum request rate of each subject: a number per second, minute or hour.',
    example: '100/s',
  },
  WEBHOOK_ALLOW_PRIVATE: {
    group: 'webhooks',
    default: '0',
    meaning: '`1` allows webhooks to URLs in private networks, and plain http there.',
    example: '1',
  },
  LOG_LEVEL: {
    group: 'logs',
    default: 'info',
    meaning: 'Least severe level that is logged: `silent`, `error`, `warn`, `info` or `debug`.',
    example: 'warn',
  },
  ACCESS_LOG: {
    group: 'logs',
    default: '0',
    meaning: '`1` writes a log line for each request.',
    example: '1',
  },
  PLANT_STORE_URL: {
    group: 'commands',
    defaultText: 'the current profile, or the address of `serve` with the same settings',
    meaning: 'URL of the server for commands that use a running server, with its base path.',
    example: 'https://plants.example.com/store',
  },
  PLANT_STORE_TOKEN: {
    group: 'commands',
    defaultText: 'the token of the profile with the URL',
    meaning: 'Token that these commands send. `import` and `export` also send it with `--url`.',
    example: 'pst_…',
  },
  PLANT_STORE_PROFILE: {
    group: 'commands',
    defaultText: 'the current profile',
    meaning:
      'Saved profile whose URL and token these commands use. It excludes `PLANT_STORE_URL` and `PLANT_STORE_TOKEN`.',
    example: 'staging',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    group: 'traces',
    meaning: 'URL of the OpenTelemetry collector. Setting it turns traces on. The exporter appends `/v1/traces`.',
    example: 'http://127.0.0.1:4318',
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    group: 'traces',
    meaning: 'URL of the OpenTelemetry collector for traces, used unchanged. It takes precedence.',
    example: 'http://127.0.0.1:4318/v1/traces',
  },
  OTEL_TRACES_EXPORTER: {
    group: 'traces',
    defaultText: '`otlp` with an endpoint, otherwise `none`',
    meaning:
      '`otlp`, `console` or both, separated by commas, or `none`. `otlp` without an endpoint uses `http://localhost:4318`.',
    example: 'console',
  },
  OTEL_SDK_DISABLED: {
    group: 'traces',
    default: 'false',
    meaning: '`true` turns traces off, regardless of all other variables.',
    example: 'true',
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    group: 'traces',
    default: 'http/protobuf',
    meaning:
      'Protocol of the exporter: `http/protobuf` or `http/json`. With `grpc`, the server warns and uses `http/protobuf`.',
    example: 'http/json',
    tracesOnly: 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    group: 'traces',
    meaning: 'Headers that the exporter sends: `name=value`, separated by commas, with percent-encoded values.',
    example: 'api-key=abc',
    tracesOnly: 'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  },
  OTEL_EXPORTER_OTLP_TIMEOUT: {
    group: 'traces',
    default: '10000',
    meaning: 'Timeout of one export in milliseconds.',
    example: '5000',
    tracesOnly: 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT',
  },
  OTEL_EXPORTER_OTLP_COMPRESSION: {
    group: 'traces',
    default: 'none',
    meaning: 'Compression of exported spans: `gzip` or `none`.',
    example: 'gzip',
    tracesOnly: 'OTEL_EXPORTER_OTLP_TRACES_COMPRESSION',
  },
  OTEL_EXPORTER_OTLP_CERTIFICATE: {
    group: 'traces',
    meaning: 'PEM file with the CA certificate of the collector.',
    example: '/etc/plant-store/ca.pem',
    tracesOnly: 'OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE',
  },
  OTEL_EXPORTER_OTLP_CLIENT_KEY: {
    group: 'traces',
    meaning: 'PEM file with the private key of the client certificate.',
    example: '/etc/plant-store/client.key',
    tracesOnly: 'OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY',
  },
  OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: {
    group: 'traces',
    meaning: 'PEM file with the client certificate for the collector.',
    example: '/etc/plant-store/client.pem',
    tracesOnly: 'OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE',
  },
  OTEL_TRACES_SAMPLER: {
    group: 'traces',
    default: 'parentbased_always_on',
    meaning: 'Sampler: `always_on`, `always_off` or `traceidratio`, each also with the prefix `parentbased_`.',
    example: 'parentbased_traceidratio',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    group: 'traces',
    default: '1',
    meaning: 'Share of the traces that a `traceidratio` sampler keeps, from 0 to 1.',
    example: '0.1',
  },
  OTEL_PROPAGATORS: {
    group: 'traces',
    default: 'tracecontext',
    meaning:
      '`tracecontext` continues the trace of `traceparent`. `none` ignores it. `baggage` is accepted but unused. In a list, other propagators are ignored with a warning.',
    example: 'none',
  },
  OTEL_BSP_SCHEDULE_DELAY: {
    group: 'traces',
    default: '5000',
    meaning: 'Maximum delay between two exports in milliseconds.',
    example: '1000',
  },
  OTEL_BSP_EXPORT_TIMEOUT: {
    group: 'traces',
    default: '30000',
    meaning: 'Time in milliseconds after which an export is cancelled.',
    example: '10000',
  },
  OTEL_BSP_MAX_QUEUE_SIZE: {
    group: 'traces',
    default: '2048',
    meaning: 'Maximum number of queued spans. Further spans are dropped.',
    example: '10000',
  },
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: {
    group: 'traces',
    default: '512',
    meaning: 'Maximum number of spans in one export.',
    example: '256',
  },
  OTEL_SERVICE_NAME: {
    group: 'traces',
    default: 'plant-store',
    meaning: 'Value of `service.name`.',
    example: 'greenhouse',
    isForPackages: true,
  },
  OTEL_RESOURCE_ATTRIBUTES: {
    group: 'traces',
    meaning:
      'Further resource attributes: `name=value`, separated by commas. The server sets `service.version` and `service.instance.id` itself.',
    example: 'deployment.environment.name=test',
    isForPackages: true,
  },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;

/** Returns all settings with their names, in the order of the table. */
export function listSettings(): ({ name: string } & Setting)[] {
  return Object.entries(SETTINGS).map(([name, setting]) => ({ name, ...setting }));
}
