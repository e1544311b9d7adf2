// Converts database rows to domain objects. The rows are declared as types, not interfaces: TypeScript can then cast
// an SQLite row, which may have any columns, to one of them.

import { readAttempts } from '../domain/attempt-log.ts';
import type { Change } from '../domain/change.ts';
import type { Delivery } from '../domain/delivery.ts';
import type { ChangeType, DeliveryStatus, Scope, WebhookFormat } from '../domain/names.ts';
import type { NewPlant, PlantRecord } from '../domain/plant.ts';
import type { Token } from '../domain/token.ts';
import type { StoredWebhook } from '../domain/webhook.ts';
import type { LoggedDelivery, OpenDelivery } from '../domain/webhook-store.ts';
import { toIsoTime } from '../lib/iso-time.ts';
import { parseRate } from '../lib/token-bucket.ts';

type Integer = number | bigint;

export type PlantRow = {
  name: string;
  tag: string | null;
  created: Integer;
  updated: Integer;
  seq: Integer;
};
export type PlantRowWithId = PlantRow & { id: bigint };

export function toNewPlant(id: bigint, { name, tag }: { name: string; tag: string | null }): NewPlant {
  return tag === null ? { id, name } : { id, name, tag };
}

export function toRecord(id: bigint, row: Omit<PlantRow, 'seq'>): PlantRecord {
  const { name, tag } = row;
  const [created, updated] = [toTime(row.created), toTime(row.updated)];
  return tag === null ? { id, name, created, updated } : { id, name, tag, created, updated };
}

export type ChangeRow = {
  seq: bigint;
  type: ChangeType;
  time: bigint;
  plant_id: bigint;
  name: string;
  tag: string | null;
  token_id: string;
  /** Number of the change that created the replaced or deleted version. */
  previous: bigint | null;
  /** Number of plants after the change. Null in changes from before these numbers were stored. */
  plant_count: bigint | null;
};

export function toChange(row: Omit<ChangeRow, 'previous' | 'plant_count'>): Change {
  const { seq, type, time, plant_id, token_id } = row;
  return { seq: Number(seq), type, time: toTime(time), plant: toNewPlant(plant_id, row), token: token_id };
}

/** Columns of `tokens t` that form a TokenRow. */
export const TOKEN_COLUMNS = 't.id, t.name, t.scopes, t.created, t.expires, t.revoked, t.rate, t.last_used';

export type TokenRow = {
  id: string;
  name: string;
  scopes: string;
  created: Integer;
  expires: Integer | null;
  revoked: Integer | null;
  rate: string | null;
  last_used: Integer | null;
};

/**
 * Converts a token row. `old_until` is the time until which the server accepts a replaced secret: the secret in the
 * query, or else the one that expires last.
 */
export function toToken(row: TokenRow & { old_until: Integer | null }): Token {
  const { id, name, scopes, created, expires, revoked, rate, last_used, old_until } = row;
  return {
    id,
    name,
    scopes: scopes.split(' ') as Scope[],
    createdMs: Number(created),
    expiresMs: toMs(expires),
    revokedMs: toMs(revoked),
    rate: (rate !== null && parseRate(rate)) || null,
    lastUsedMs: toMs(last_used),
    oldSecretUntilMs: toMs(old_until),
  };
}

/** Converts the row of a token that was found by a replaced secret. The token expires no later than that secret. */
export function toOldToken(row: TokenRow & { old_until: Integer }): Token {
  const token = toToken(row);
  return { ...token, expiresMs: Math.min(token.expiresMs ?? Number.POSITIVE_INFINITY, Number(row.old_until)) };
}

function toMs(time: Integer | null): number | null {
  return time === null ? null : Number(time);
}

export type WebhookRow = {
  id: string;
  url: string;
  events: string;
  format: WebhookFormat;
  name: string | null;
  secret: string;
  old_secret: string | null;
  old_secret_until: Integer | null;
  created: Integer;
  position: Integer;
  replay_to: Integer | null;
  replay_resume: Integer | null;
  failing_since: Integer | null;
  reason: string | null;
  disabled: Integer | null;
  epoch: Integer;
  retries: Integer;
};

export function toWebhook(row: WebhookRow): StoredWebhook {
  const { old_secret, replay_to, failing_since, disabled } = row;
  return {
    id: row.id,
    url: row.url,
    events: row.events.split(' ') as ChangeType[],
    format: row.format,
    name: row.name,
    secret: row.secret,
    oldSecret: old_secret === null ? null : { secret: old_secret, untilMs: Number(row.old_secret_until) },
    createdMs: Number(row.created),
    position: Number(row.position),
    replay: replay_to === null ? null : { to: Number(replay_to), resume: Number(row.replay_resume) },
    failing: failing_since === null ? null : { sinceMs: Number(failing_since), reason: row.reason ?? '' },
    disabledMs: disabled === null ? null : Number(disabled),
    epoch: Number(row.epoch),
    retries: Number(row.retries),
  };
}

export type DeliveryRow = {
  webhook_id: string;
  seq: bigint;
  plant_id: bigint;
  status: DeliveryStatus;
  attempts: Integer;
  due: Integer;
  time: Integer | null;
  code: Integer | null;
  answer: string | null;
  error: string | null;
  attempt_log: string;
};

/** Columns of `deliveries` that form an OpenRow. They exclude texts, which can be long. */
export const OPEN_COLUMNS = 'webhook_id, seq, plant_id, attempts, due';

export type OpenRow = Pick<DeliveryRow, 'webhook_id' | 'seq' | 'plant_id' | 'attempts' | 'due'>;

/** Groups pending deliveries by webhook id. */
export function toOpenDeliveries(rows: OpenRow[]): Map<string, OpenDelivery[]> {
  const byWebhook = new Map<string, OpenDelivery[]>();
  for (const { webhook_id, seq, plant_id, attempts, due } of rows) {
    const open = byWebhook.get(webhook_id) ?? [];
    byWebhook.set(webhook_id, open);
    open.push({ seq: Number(seq), plantId: plant_id, attempts: Number(attempts), dueMs: Number(due) });
  }
  return byWebhook;
}

/** Columns of `deliveries d` and `changes c` that form a ListedDeliveryRow. */
export const LISTED_COLUMNS =
  'd.seq, c.type, d.plant_id, d.status, d.attempts, d.due, d.time, d.code, d.answer, d.error';

/** A delivery row without its attempt log. `type` is the type of the delivered change. */
export type ListedDeliveryRow = Omit<DeliveryRow, 'webhook_id' | 'attempt_log'> & { type: ChangeType };

export function toDelivery(row: ListedDeliveryRow): Delivery {
  const { seq, type, plant_id, status, attempts, due, time, code, answer, error } = row;
  return {
    seq: Number(seq),
    event: type,
    plant: plant_id,
    status,
    attempts: Number(attempts),
    ...(time !== null && { time: toTime(time) }),
    ...(status === 'waiting' && Number(attempts) > 0 && { next: toTime(due) }),
    ...(code !== null && { code: Number(code) }),
    ...(answer !== null && { answer }),
    ...(error !== null && { error }),
  };
}

/** A delivery row with the columns of its change. `change_time` is the time of the change. */
export type LoggedDeliveryRow = DeliveryRow &
  Omit<ChangeRow, 'time' | 'previous' | 'plant_count'> & { change_time: bigint };

/** Columns of `deliveries d` and `changes c` that form a LoggedDeliveryRow. */
export const LOGGED_COLUMNS = 'd.*, c.type, c.time AS change_time, c.name, c.tag, c.token_id';

/** Converts a delivery row to the delivery, its change and its attempts. */
export function toLoggedDelivery(row: LoggedDeliveryRow): LoggedDelivery {
  const change = toChange({ ...row, time: row.change_time });
  return { delivery: toDelivery(row), change, attempts: readAttempts(row.attempt_log) };
}

function toTime(ms: Integer): string {
  return toIsoTime(Number(ms));
}
