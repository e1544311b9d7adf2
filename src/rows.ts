// Rows as the databases give them → the words of the domain.

import type { Change, ChangeType } from './change.ts';
import type { NewPlant, PlantRecord } from './plant.ts';
import { parseRate } from './rate.ts';
import type { Scope, Token } from './token.ts';
import type { Delivery, DeliveryStatus, OpenDelivery, StoredWebhook } from './webhook.ts';

type Integer = number | bigint;

export interface PlantRow {
  name: string;
  tag: string | null;
  created: Integer;
  updated: Integer;
  seq: Integer;
}

export function toNewPlant(id: bigint, { name, tag }: { name: string; tag: string | null }): NewPlant {
  return tag === null ? { id, name } : { id, name, tag };
}

export function toRecord(id: bigint, row: PlantRow): PlantRecord {
  return { ...toNewPlant(id, row), created: toTime(row.created), updated: toTime(row.updated) };
}

export interface ChangeRow {
  seq: bigint;
  type: ChangeType;
  time: bigint;
  plant_id: bigint;
  name: string;
  tag: string | null;
  token_id: string;
}

export function toChange(row: ChangeRow): Change {
  const { seq, type, time, plant_id, token_id } = row;
  return { seq: Number(seq), type, time: toTime(time), plant: toNewPlant(plant_id, row), token: token_id };
}

export interface TokenRow {
  id: string;
  name: string;
  scopes: string;
  created: Integer;
  expires: Integer | null;
  revoked: Integer | null;
  rate: string | null;
  last_used: Integer | null;
}

/** With the time until which a secret that was replaced is taken: the last of all, or the one that was asked for. */
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

/** As one that was found by a secret which was replaced. */
export function toOldToken(row: TokenRow & { old_until: Integer }): Token {
  const token = toToken(row);
  return { ...token, expiresMs: Math.min(token.expiresMs ?? Number.POSITIVE_INFINITY, Number(row.old_until)) };
}

function toMs(time: Integer | null): number | null {
  return time === null ? null : Number(time);
}

export interface WebhookRow {
  id: string;
  url: string;
  events: string;
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
}

export function toWebhook(row: WebhookRow): StoredWebhook {
  const { old_secret, replay_to, failing_since, disabled } = row;
  return {
    id: row.id,
    url: row.url,
    events: row.events.split(' ') as ChangeType[],
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

export interface DeliveryRow {
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
}

/** By webhook. */
export function toOpenDeliveries(rows: DeliveryRow[]): Map<string, OpenDelivery[]> {
  const byWebhook = new Map<string, OpenDelivery[]>();
  for (const { webhook_id, seq, plant_id, attempts, due } of rows) {
    const open = byWebhook.get(webhook_id) ?? [];
    byWebhook.set(webhook_id, open);
    open.push({ seq: Number(seq), plantId: plant_id, attempts: Number(attempts), dueMs: Number(due) });
  }
  return byWebhook;
}

/** `type` is that of the change. */
export function toDelivery(row: DeliveryRow & { type: ChangeType }): Delivery {
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

const DAY_MS = 86_400_000;
const TWO_DIGITS = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));
let lastDay = Number.NaN;
/** With the `T`. */
let lastDate = '';

/** RFC 3339. Most are of the day of the one before: a whole toISOString() takes six times as long. */
function toTime(ms: Integer): string {
  const timeMs = Number(ms);
  const day = Math.floor(timeMs / DAY_MS);
  if (day !== lastDay) {
    lastDay = day;
    lastDate = new Date(day * DAY_MS).toISOString().slice(0, -'00:00:00.000Z'.length);
  }
  const restMs = timeMs - day * DAY_MS;
  const clock = `${twoDigits(restMs / 3_600_000)}:${twoDigits((restMs / 60_000) % 60)}:${twoDigits((restMs / 1000) % 60)}`;
  return `${lastDate}${clock}.${String(restMs % 1000).padStart(3, '0')}Z`;
}

function twoDigits(n: number): string {
  return TWO_DIGITS[Math.floor(n)] as string;
}
