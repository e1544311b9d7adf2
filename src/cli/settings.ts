// plant-store settings, and so "plant-store help settings": what the environment can say. config.ts reads it.

import type { CliCommand } from './declare.ts';

const SETTINGS = `
Of the server, and of the commands that work straight on its database:
  HOST, PORT     where it listens (127.0.0.1, 3000)
  DATABASE_URL   where the records are: sqlite:PATH or postgres://…
                 (sqlite:./data/plants.db)
  BASE_PATH      stands before every path (none)
  LOG_LEVEL      silent, error, warn, info or debug (info)
  ACCESS_LOG     1 logs a line for each request (0)

  DATABASE_POOL_SIZE    connections of a server to PostgreSQL (10)
  DATABASE_TIMEOUT_MS   after which PostgreSQL gives a statement up (10000)

  TLS_CERT, TLS_KEY   files of a certificate and its key: then it speaks https
                      only (none)
  TRUST_PROXY         whose X-Forwarded-For counts: 10.0.0.7, 10.0.0.0/8,
                      loopback, or how many proxies there are (nobody's)
  CORS_ORIGINS        whose pages may use it in a browser:
                      https://shop.example.com,… or * (nobody's)

  JWT_ISSUER     an identity provider whose JWTs are taken (none)
  JWT_AUDIENCE   what their "aud" must be
  JWKS_URL       where its keys are (as its metadata says)
  JWT_RATE       how often each subject may ask: 100/s (no limit)

  WEBHOOK_ALLOW_PRIVATE   1 lets webhooks lead into private networks, also
                          without TLS (0)

  OTEL_EXPORTER_OTLP_ENDPOINT   where traces go: http://127.0.0.1:4318
                                (nowhere); others of OpenTelemetry count, too

Of the commands that ask a server:
  PLANT_STORE_URL     where it is (where "serve" with these HOST, PORT and
                      BASE_PATH would listen)
  PLANT_STORE_TOKEN   the token that they send; "import" and "export" with --url
                      send it, too`;

export function declareSettings(command: CliCommand): void {
  command
    .notes(SETTINGS)
    .examples('plant-store settings', 'PORT=8080 LOG_LEVEL=warn plant-store serve')
    .action(() => command.outputHelp());
}
