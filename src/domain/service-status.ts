// The status of the service: what an operator's dashboard shows.

import { z } from 'zod';
import { Time } from './time.ts';
import { REFUSAL_REASONS, type RefusalReason } from './token.ts';

const REASONS: Record<RefusalReason, string> = {
  no_credentials: 'Requests without a token',
  malformed: 'Tokens that cannot be valid, such as mistyped ones',
  unknown: 'Tokens that do not exist',
  expired: 'Expired tokens and JWTs',
  revoked: 'Revoked tokens',
  bad_jwt: 'Invalid JWTs',
  no_key: 'JWTs whose key the identity provider does not list',
  too_many_wrong: 'Invalid tokens from an address that has sent too many',
  scope: 'Tokens that lack a required scope',
  rate: 'Requests over the rate of their token',
  share: 'Imports and exports beyond the share of one token',
};

const count = (description: string, example: number) =>
  z
    .int()
    .min(0)
    .meta({ description, examples: [example] });
const time = (description: string, example: string) => Time.meta({ description, examples: [example] });

const Refused = z.object(
  Object.fromEntries(REFUSAL_REASONS.map((reason) => [reason, count(REASONS[reason], 0)])) as Record<
    RefusalReason,
    ReturnType<typeof count>
  >,
);

const Hour = z.object({
  hour: time('Start of the hour (RFC 3339, UTC)', '2026-11-17T09:00:00.000Z'),
  requests: count('Number of requests that ended in this hour', 8120),
  p99Milliseconds: z
    .number()
    .optional()
    .meta({
      description:
        'Duration that 99 % of the requests did not exceed, up to 13 % too high. Imports, exports and the change log do not count. Absent if no other request ended in this hour.',
      examples: [3.58],
    }),
});

const Limits = z.object({
  bodyBytes: count('Maximum size of a request body, except for imports', 65_536),
  headerBytes: count('Maximum size of the request headers', 16_384),
  pageSize: count('Maximum number of records or changes in a page', 1000),
  connections: count('Maximum number of connections', 10_000),
  connectionsPerAddress: count('Maximum number of connections of one address', 1000),
  requestsPerConnection: count('Maximum number of requests of one connection that are in progress', 32),
  queuedWrites: count('Maximum number of writes that are queued for a transaction', 10_000),
  imports: count('Maximum number of concurrent imports', 16),
  importsPerToken: count('Maximum number of concurrent imports of one token', 4),
  exports: count('Maximum number of concurrent exports', 16),
  exportsPerToken: count('Maximum number of concurrent exports of one token', 4),
  invalidTokensPerAddress: count('Number of invalid tokens that one address can send at once', 100),
  invalidTokensPerSecond: count('Number of invalid tokens per second that one address can send after that', 10),
  jwtRate: z
    .string()
    .optional()
    .meta({ description: 'Maximum request rate of each JWT subject. Absent without a limit.', examples: ['100/s'] }),
  databaseConnections: count('Maximum number of connections to PostgreSQL. Absent on SQLite.', 10).optional(),
});
export type LimitsInForce = z.output<typeof Limits>;

export const ServiceStatus = z
  .object({
    version: z.string().meta({ description: 'Version of the service', examples: ['1.1.0'] }),
    started: time('Time at which this node started', '2026-11-01T06:30:00.000Z'),
    database: z
      .object({
        kind: z.enum(['sqlite', 'postgres']).meta({ description: 'Kind of the database', examples: ['sqlite'] }),
        bytes: count('Size of the database. On SQLite it includes the WAL.', 41_943_040),
        schemaVersion: count('Number of migrations that created the schema', 6),
      })
      .meta({ description: 'The database' }),
    plants: count('Number of plants', 12_345),
    lastChange: z.number().meta({
      type: 'integer',
      format: 'int64',
      description: 'Number of the newest change. It is 0 before the first change.',
      examples: [20_417],
    }),
    deliveries: z
      .object({
        pending: count(
          'Deliveries to enabled webhooks that wait for their next attempt. Changes that a webhook has not reached yet do not count.',
          3,
        ),
        oldest: time(
          'Time since which the oldest change waits for its delivery to an enabled webhook. Absent if no change waits.',
          '2026-11-17T09:12:45.120Z',
        ).optional(),
      })
      .meta({ description: 'Pending deliveries to webhooks' }),
    refused: Refused.meta({ description: 'Requests that this node rejected since its start, by reason' }),
    hours: z.array(Hour).meta({
      description: 'Requests to this node in the last 24 hours, oldest first. Hours without requests are left out.',
    }),
    lastBackup: z
      .object({
        time: time('Time at which the backup was complete', '2026-11-17T03:00:12.400Z'),
        ageSeconds: count('Seconds since then', 22_400),
        bytes: count('Size of the backup', 39_845_888),
      })
      .optional()
      .meta({
        description:
          'The last backup that the server or `plant-store backup` wrote. Absent if there was none, and on PostgreSQL, whose backups other tools write.',
      }),
    connections: z
      .object({ open: count('Number of open connections', 12) })
      .meta({ description: 'Connections of clients to this node' }),
    limits: Limits.meta({ description: 'Limits in force on this node' }),
  })
  .meta({ id: 'ServiceStatus', description: 'The status of the service, as a dashboard shows it' });
export type ServiceStatus = z.output<typeof ServiceStatus>;
